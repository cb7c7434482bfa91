//go:build !linux

package p2p

import "testing"

func smallDisk(t *testing.T, _ int) string {
	t.Skip("making a small disk is known for Linux alone")
	return ""
}
