//go:build unix && !linux

package sandbox

import (
	"os/exec"
	"syscall"
)

// detach gives a child its own process group, so that a terminal's signals do
// not reach it. When its parent dies the child sees its input end.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// adopt does what can only be done once the child runs; here nothing.
func adopt(*exec.Cmd) error { return nil }
