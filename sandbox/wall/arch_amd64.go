//go:build linux

package wall

import "golang.org/x/sys/unix"

const (
	// auditArch is AUDIT_ARCH_X86_64 of the kernel's linux/audit.h.
	auditArch = 0xc000_003e
	// foreignCalls is where the numbers of another interface of the same architecture begin (x32).
	foreignCalls = 0x4000_0000
)

// ownCalls are what this architecture has beside the others.
var ownCalls = []uint32{unix.SYS_EPOLL_WAIT}
