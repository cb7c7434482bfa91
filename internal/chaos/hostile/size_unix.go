//go:build unix

package hostile

import (
	"io/fs"
	"syscall"
)

// onDisk is what a file takes of its disk, in bytes.
func onDisk(info fs.FileInfo) int64 {
	const block = 512 // stat(2)
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return s.Blocks * block
	}
	return info.Size()
}
