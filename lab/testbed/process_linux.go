package testbed

import "syscall"

// DieWithParent makes a child end when this process does, however that ends.
func DieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
}
