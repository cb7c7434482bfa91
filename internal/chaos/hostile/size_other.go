//go:build !unix

package hostile

import "io/fs"

// onDisk is what a file takes of its disk, in bytes.
func onDisk(info fs.FileInfo) int64 { return info.Size() }
