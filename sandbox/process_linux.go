package sandbox

import (
	"os/exec"
	"syscall"
)

// detach gives a child its own process group, so that a terminal's signals do
// not reach it, and makes it die with the thread that starts it: see launcher.
func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// adopt does what can only be done once the child runs; here nothing.
func adopt(*exec.Cmd) error { return nil }
