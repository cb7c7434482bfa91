//go:build !linux

package budget

import (
	"io/fs"
	"time"
)

// lastUse is when a file was written.
func lastUse(info fs.FileInfo) time.Time { return info.ModTime() }
