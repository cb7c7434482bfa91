//go:build !linux

package testbed

import "syscall"

// DieWithParent has no counterpart here: children are ended by the parent only.
func DieWithParent() *syscall.SysProcAttr { return nil }
