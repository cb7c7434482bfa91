//go:build linux

package sandbox

import "golang.org/x/sys/unix"

const sysStat = unix.SYS_NEWFSTATAT
