package budget

import (
	"io/fs"
	"syscall"
	"time"
)

// lastUse is when a file was written or read, whichever is later. Linux notes the first
// reading after a writing, and then one a day.
func lastUse(info fs.FileInfo) time.Time {
	written := info.ModTime()
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		if read := time.Unix(int64(st.Atim.Sec), int64(st.Atim.Nsec)); read.After(written) {
			return read
		}
	}
	return written
}
