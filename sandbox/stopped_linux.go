package sandbox

import (
	"bytes"
	"os"
	"strconv"
)

// isStopped says whether every thread of a process is stopped, or the process
// is gone.
func isStopped(pid int) bool {
	dir := "/proc/" + strconv.Itoa(pid) + "/task"
	threads, err := os.ReadDir(dir)
	if err != nil {
		return true
	}
	for _, t := range threads {
		b, err := os.ReadFile(dir + "/" + t.Name() + "/stat")
		if err != nil {
			continue // the thread has ended
		}
		// The state follows the name, which may hold anything, in parentheses.
		i := bytes.LastIndexByte(b, ')')
		if i < 0 || i+2 >= len(b) {
			return false
		}
		switch b[i+2] {
		case 'T', 't', 'Z', 'X':
		default:
			return false
		}
	}
	return true
}
