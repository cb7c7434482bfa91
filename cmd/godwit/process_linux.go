package main

import "syscall"

// dieWithParent makes a child end when this process does, however that ends.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
}
