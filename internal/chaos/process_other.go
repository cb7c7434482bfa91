//go:build !linux

package main

import "syscall"

// ownGroup has nothing that every system knows.
func ownGroup() *syscall.SysProcAttr { return nil }

// killGroup does nothing: sandboxes end with their node.
func killGroup(int) {}
