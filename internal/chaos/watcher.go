package main

import (
	"context"
	"encoding/binary"
	"runtime"
	"slices"
	"sync"
	"time"
)

// The memory of internal/chaos/tide has its mark somewhere in the first mebibyte,
// and behind it the task and its rounds, as 64-bit words with the lowest byte
// first.
const (
	markLow, markHigh = 0x9c1f5ae37bd2460d, 0x38e6d40b71a9f2c5
	shownBytes        = 32
	markWithin        = 1 << 20
)

// mark is how it lies in memory.
var mark = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, markLow), markHigh)

// readShown reads what a guest shows of itself, if this is it.
func readShown(b []byte) (task, rounds uint64, ok bool) {
	if len(b) < shownBytes || string(b[:len(mark)]) != string(mark) {
		return 0, 0, false
	}
	return binary.LittleEndian.Uint64(b[len(mark):]), binary.LittleEndian.Uint64(b[len(mark)+8:]), true
}

// A watcher reads how far guests are from the memory of the nodes' children, and
// tells an odometer. Its methods may be called by one goroutine, but for node.
type watcher struct {
	odometer *odometer
	every    time.Duration // how often guests are looked at
	memory   int64         // that a task may have, in bytes: by it the guest's memory is found

	mu    sync.Mutex
	nodes map[int]int // by process: which node it is

	offset  int64 // of the mark in a guest's memory; 0 until it is known
	windows map[int]*glass
	parents map[int]int // by process: whose child it is, as far as it was asked
}

// A glass shows one process's memory.
type glass struct {
	node int
	mem  memoryFile
	base int64 // where the guest's memory begins; 0 while that is not known
}

const (
	// searchEvery looks come between two searches for processes, and for the memory
	// of those in which it was not found.
	searchEvery = 10
	// besideMost is how much of what lies beside a guest's memory is searched through.
	besideMost = 4 * mebibyte
	// pageBytes is the least that the kernel maps.
	pageBytes = 4 << 10
)

func newWatcher(o *odometer, every time.Duration, memory int64) *watcher {
	return &watcher{odometer: o, every: every, memory: memory, nodes: map[int]int{}, windows: map[int]*glass{},
		parents: map[int]int{}}
}

// node says that a process is a node, whose children are looked at from now on.
func (w *watcher) node(process, index int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.nodes[process] = index
}

func (w *watcher) nodeOf(process int) (int, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, ok := w.nodes[process]
	return n, ok
}

// run looks until ctx ends, ahead of all else that the machine has to do.
func (w *watcher) run(ctx context.Context) {
	runtime.LockOSThread() // it is ended with its priority when this returns
	hurry()
	tick := time.NewTicker(w.every)
	defer tick.Stop()
	for looks := 0; ; looks++ {
		if looks%searchEvery == 0 {
			w.search()
		}
		for process, g := range w.windows {
			w.look(process, g)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			for process := range w.windows {
				w.forget(process)
			}
			return
		}
	}
}

// look reads one process's mark.
func (w *watcher) look(process int, g *glass) {
	if g.base == 0 {
		return
	}
	var b [shownBytes]byte
	if _, err := g.mem.ReadAt(b[:], g.base+w.offset); err != nil {
		w.forget(process)
		return
	}
	if task, rounds, ok := readShown(b[:]); ok {
		w.odometer.saw(time.Now(), g.node, process, task, rounds)
	} else { // the process has done with that task; the next may be the same again
		w.odometer.gone(process)
	}
}

func (w *watcher) forget(process int) {
	w.windows[process].mem.Close()
	delete(w.windows, process)
	w.odometer.gone(process)
}

// search looks for new children of nodes, and for the guests' memory in those that
// do not show any.
func (w *watcher) search() {
	for _, child := range w.newChildren() {
		node, _ := w.nodeOf(w.parents[child])
		if mem, err := openMemory(child); err == nil {
			w.windows[child] = &glass{node: node, mem: mem}
		}
	}
	for process, g := range w.windows {
		if g.base != 0 {
			continue
		}
		w.locate(process, g)
	}
}

// locate looks for the mark where a child may have its guest's memory. That is
// opened anew: what was opened between a process's fork and its exec shows the memory
// of its parent for ever.
func (w *watcher) locate(process int, g *glass) {
	areas, err := privateAreas(process, w.memory)
	if err != nil {
		w.forget(process)
		return
	}
	if len(areas) == 0 {
		return
	}
	mem, err := openMemory(process)
	if err != nil {
		w.forget(process)
		return
	}
	g.mem.Close()
	g.mem = mem
	for _, a := range areas {
		if g.base = w.locateIn(mem, a); g.base != 0 {
			return
		}
	}
}

// locateIn returns where in an area the guest's memory begins, or 0. The kernel may
// show it as one with what lies beside it, on either side or both. What is
// much larger may hold a copy of it, which is not taken for it.
func (w *watcher) locateIn(mem memoryFile, a area) int64 {
	ends := []int64{a.from, a.to - w.memory}
	if w.offset == 0 {
		for _, base := range ends {
			if at, ok := findMark(mem, base); ok {
				w.offset = at
				return base
			}
		}
		return 0
	}
	shows := func(base int64) bool {
		var b [shownBytes]byte
		_, err := mem.ReadAt(b[:], base+w.offset)
		_, _, ok := readShown(b[:])
		return err == nil && ok
	}
	if i := slices.IndexFunc(ends, shows); i >= 0 {
		return ends[i]
	}
	if beside := a.to - a.from - w.memory; beside < min(w.memory, besideMost) {
		for base := a.from; base < a.to-w.memory; base += pageBytes {
			if shows(base) {
				return base
			}
		}
	}
	return 0
}
