//go:build !linux

package main

import "syscall"

// dieWithParent has no counterpart here: children are ended by the parent only.
func dieWithParent() *syscall.SysProcAttr { return nil }
