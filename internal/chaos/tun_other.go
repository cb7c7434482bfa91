//go:build !linux

package main

import "os"

// openTUN has no device to open.
func openTUN() (*os.File, string, error) { return nil, "", skip("TUN devices are made on Linux only") }
