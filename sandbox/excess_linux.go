package sandbox

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// ownMemory is what a process holds in memory that no file backs, in bytes; 0 for one that is gone.
func ownMemory(pid int) int64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0
	}
	f := bytes.Fields(b)
	const resident, shared = 1, 2 // proc(5): in pages
	if len(f) <= shared {
		return 0
	}
	r, _ := strconv.ParseInt(string(f[resident]), 10, 64)
	s, _ := strconv.ParseInt(string(f[shared]), 10, 64)
	return (r - s) * int64(os.Getpagesize())
}
