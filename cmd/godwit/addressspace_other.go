//go:build !linux

package main

// checkAddressSpace returns nil: only Linux limits the address space of a process.
func checkAddressSpace() error { return nil }
