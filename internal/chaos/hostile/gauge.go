package hostile

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"godwit/internal/pause"
	"godwit/overlay"
)

const (
	// lookEvery is how often nodes are looked at. A file that grows by a disk's whole speed
	// is seen within a few hundred megabytes.
	lookEvery = 250 * time.Millisecond
	// Bounds of what nodes may use, whatever is tried.
	memoryMost = 400 << 20 // bytes of the node's process
	lateMost   = time.Second
	// maxDisk is what the owners of the nodes let them keep; diskSlack is for what a store
	// writes beside its content, and for what du counts by blocks.
	maxDisk   = 512 << 20
	diskSlack = 16 << 20
)

// A gauge looks at nodes from outside all the time.
type gauge struct {
	nodes []Node

	mu     sync.Mutex
	disk   map[Node]int64         // most bytes in its directory
	memory map[Node]int64         // most bytes resident
	slow   map[Node]time.Duration // longest time that its API took to answer from its loop
	late   time.Duration          // most that a renewal of a lease came too late
	heard  time.Time              // when the last renewal came
	beats  int                    // renewals heard
}

func newGauge(nodes []Node) *gauge {
	g := &gauge{nodes: nodes}
	g.reset()
	return g
}

// reset forgets what was seen. The kernel forgets the most that a process used too, where
// it can.
func (g *gauge) reset() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.disk, g.memory, g.slow = map[Node]int64{}, map[Node]int64{}, map[Node]time.Duration{}
	g.late, g.beats, g.heard = 0, 0, time.Time{}
	for _, n := range g.nodes {
		const peakToo = "5" // proc(5), clear_refs
		_ = os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", n.PID()), []byte(peakToo), 0)
	}
}

// run looks until ctx ends.
func (g *gauge) run(ctx context.Context) {
	var asking sync.WaitGroup
	defer asking.Wait()
	for _, n := range g.nodes {
		asking.Go(func() {
			for pause.For(ctx, lookEvery) == nil {
				begun := time.Now()
				var list []pool
				if err := n.Get(ctx, "/v1/overlays", &list); ctx.Err() == nil {
					g.answered(n, time.Since(begun), err)
				}
			}
		})
		asking.Go(func() {
			for pause.For(ctx, lookEvery) == nil {
				g.used(n, sizeOf(n.Dir()), peakOf(n.PID()))
			}
		})
	}
	<-ctx.Done()
}

func (g *gauge) answered(n Node, after time.Duration, _ error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.slow[n] = max(g.slow[n], after)
}

func (g *gauge) used(n Node, disk, memory int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.disk[n], g.memory[n] = max(g.disk[n], disk), max(g.memory[n], memory)
}

// renewed takes in that a renewal of the leader's lease arrived.
func (g *gauge) renewed(now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.heard.IsZero() {
		g.late = max(g.late, now.Sub(g.heard)-overlay.RenewEvery)
	}
	g.heard, g.beats = now, g.beats+1
}

// A look is what a gauge has seen since it was reset.
type look struct {
	memory, disk int64 // the most of all nodes
	slow, late   time.Duration
	beats        int
}

func (g *gauge) look() (l look) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, n := range g.nodes {
		l.memory, l.disk, l.slow = max(l.memory, g.memory[n]), max(l.disk, g.disk[n]), max(l.slow, g.slow[n])
	}
	l.late, l.beats = g.late, g.beats
	if !g.heard.IsZero() { // one that does not come at all is late too
		l.late = max(l.late, time.Since(g.heard)-overlay.RenewEvery)
	}
	return l
}

// diskOf returns the most bytes that were seen in a node's directory.
func (g *gauge) diskOf(n Node) int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.disk[n]
}

// sizeOf adds up the files of a directory, by the blocks that they take.
func sizeOf(dir string) (sum int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil // files come and go meanwhile
		}
		if info, err := d.Info(); err == nil {
			sum += onDisk(info)
		}
		return nil
	})
	return sum
}

// peakOf returns the most memory that a process had resident, in bytes; 0 where that cannot
// be known.
func peakOf(pid int) int64 {
	v, _ := strconv.ParseInt(strings.TrimSuffix(statusOf(pid)["VmHWM"], " kB"), 10, 64)
	return v << 10
}

// statusOf reads /proc/PID/status.
func statusOf(pid int) map[string]string {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return nil
	}
	out := map[string]string{}
	for line := range strings.Lines(string(b)) {
		if key, value, ok := strings.Cut(line, ":"); ok {
			out[key] = strings.TrimSpace(value)
		}
	}
	return out
}

// busyOf returns the processor time that a process has used; 0 if there is none.
func busyOf(pid int) time.Duration {
	const user, kern = 13, 14 // of proc(5), counted from 0
	return time.Duration(statOf(pid, user)+statOf(pid, kern)) * tick
}

// begunOf returns when a process began, in ticks since the machine's start; 0 if there is none. Systems give the number of
// a process that ended to another one.
func begunOf(pid int) int64 {
	const began = 21 // of proc(5), counted from 0
	return statOf(pid, began)
}

const tick = time.Second / 100 // sysconf(_SC_CLK_TCK): the same on all of Linux

// statOf returns a number of /proc/PID/stat, by its place; 0 if there is none.
func statOf(pid, place int) int64 {
	const afterName = 2 // the fields behind the name begin with the third
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	if len(fields) <= place-afterName {
		return 0
	}
	n, _ := strconv.ParseInt(fields[place-afterName], 10, 64)
	return n
}
