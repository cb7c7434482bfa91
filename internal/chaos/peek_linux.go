package main

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// A memoryFile is a process's memory.
type memoryFile = *os.File

// An area is a range of a process's addresses.
type area struct{ from, to int64 }

// canPeek says why guests cannot be watched here, or nothing.
func canPeek() error { return nil }

// openMemory opens a process's memory; it takes the rights to trace it.
func openMemory(process int) (memoryFile, error) {
	return os.Open(fmt.Sprintf("/proc/%d/mem", process))
}

// hurry has this thread run before all others, where that is allowed.
func hurry() { _ = unix.Setpriority(unix.PRIO_PROCESS, 0, -20) }

// privateAreas lists where a process has memory of its own, at least so much of it
// together (proc_pid_maps(5)). What is nearest to that is first: a guest's memory is
// reserved as a whole, and larger areas may hold copies of its pages.
func privateAreas(process int, least int64) ([]area, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", process))
	if err != nil {
		return nil, err
	}
	areas := readAreas(string(b), least)
	slices.SortStableFunc(areas, func(a, b area) int { return cmp.Compare(a.to-a.from, b.to-b.from) })
	return areas, nil
}

func readAreas(maps string, least int64) (out []area) {
	const nameless = 5 // fields of an area that is no file's
	for line := range strings.Lines(maps) {
		f := strings.Fields(line)
		if len(f) != nameless || !strings.HasPrefix(f[1], "rw-p") {
			continue
		}
		low, high, _ := strings.Cut(f[0], "-")
		from, err1 := strconv.ParseInt(low, 16, 64)
		to, err2 := strconv.ParseInt(high, 16, 64)
		if err1 == nil && err2 == nil && to-from >= least {
			out = append(out, area{from, to})
		}
	}
	return out
}

// findMark returns where in a guest's memory that begins at base its mark is.
func findMark(mem memoryFile, base int64) (int64, bool) {
	buf := make([]byte, markWithin)
	n, _ := mem.ReadAt(buf, base) // what can be read is read
	if i := bytes.Index(buf[:n], mark); i >= 0 {
		return int64(i), true
	}
	return 0, false
}

// newChildren returns the children of nodes that were not there before.
func (w *watcher) newChildren() (out []int) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	there := make(map[int]bool, len(names))
	for _, name := range names {
		process, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		there[process] = true
		if _, known := w.parents[process]; !known {
			w.parents[process] = parentOf(process)
		}
		if _, ours := w.nodeOf(w.parents[process]); ours && w.windows[process] == nil {
			out = append(out, process)
		}
	}
	for process := range w.parents {
		if !there[process] {
			delete(w.parents, process)
		}
	}
	return out
}

// parentOf returns whose child a process is; 0 where that cannot be told
// (proc_pid_stat(5): the name may hold anything, but the last bracket ends it).
func parentOf(process int) int {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", process))
	if err != nil {
		return 0
	}
	rest := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	if len(rest) < 2 {
		return 0
	}
	parent, _ := strconv.Atoi(rest[1])
	return parent
}
