package main

import "syscall"

// ownGroup makes a child the head of a process group, and ends it when this
// process ends, however that ends.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// killGroup kills a child and everything it started.
func killGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) } // it may all have ended
