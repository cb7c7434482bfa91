package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/spf13/pflag"

	"godwit/internal/failure"
	"godwit/sandbox"
	"godwit/task"
)

// hopFlags say how `godwit exec` moves the program that it runs.
type hopFlags struct {
	count  int
	seed   uint64
	mean   time.Duration // between two hops
	via    []string
	thaws  uint64 // fuel between two freezes in place
	random *rand.Rand
}

// defaultHopEvery lets a program of some seconds make tens of hops.
const defaultHopEvery = 100 * time.Millisecond

func (h *hopFlags) add(f *pflag.FlagSet) {
	f.IntVar(&h.count, "hops", 0, "freeze the program so often at random times, and go on in a new process each time")
	f.Uint64Var(&h.seed, "hop-seed", 1, "seed of the random times")
	f.DurationVar(&h.mean, "hop-every", defaultHopEvery, "mean time that the program runs between two hops")
	f.StringArrayVar(&h.via, "via", nil, "command that starts the next process, like 'qemu-aarch64-static ./godwit-arm64' (repeatable: in turns, this program first)")
	f.Uint64Var(&h.thaws, "every", 0, "freeze and thaw the program in place each time it used so much fuel")
}

func (h *hopFlags) check() error {
	if h.count < 0 || h.mean <= 0 {
		return failure.Usage("write --hops 20 --hop-every 100ms", "--hops %d --hop-every %v: hops cannot be fewer than none, nor the time between them", h.count, h.mean)
	}
	for _, v := range h.via {
		if len(strings.Fields(v)) == 0 {
			return failure.Usage("write --via 'PROGRAM ARGS'", "--via is empty")
		}
	}
	if len(h.via) > 0 && h.count == 0 {
		return failure.Usage("add --hops N", "--via without --hops: the program would stay in this one's process")
	}
	h.random = rand.New(rand.NewPCG(h.seed, 0))
	return nil
}

// engines are the commands of --via, each with the verb of a sandbox process.
func (h *hopFlags) engines() [][]string {
	var out [][]string
	for _, v := range h.via {
		words := strings.Fields(v)
		for i, w := range words {
			words[i] = fromHere(w)
		}
		out = append(out, append(words, sandboxVerb))
	}
	return out
}

// fromHere makes a relative path to a file absolute, since sandbox processes
// have a directory of their own. Other words, like names to be found in PATH
// and flags, stay as they are.
func fromHere(word string) string {
	if filepath.Base(word) == word || filepath.IsAbs(word) {
		return word
	}
	path, err := filepath.Abs(word)
	if err != nil {
		return word
	}
	if _, err := os.Stat(path); err != nil {
		return word
	}
	return path
}

// A journey is a run over all its hops.
type journey struct {
	last        sandbox.Report
	hops        int
	notFrozen   string // why the last freeze that failed did
	checkpoints []checkpointReport
	wall, cpu   time.Duration
}

// checkpointReport is one checkpoint in the JSON of `godwit exec`.
type checkpointReport struct {
	Bytes       int64   `json:"bytes"`        // of the whole state
	StoredBytes int64   `json:"stored_bytes"` // that were not stored yet
	PauseMs     float64 `json:"pause_ms"`
	RestoreMs   float64 `json:"restore_ms"`
}

// short says why a journey made fewer hops than it should have; empty if it
// made them all.
func (h *hopFlags) short(j journey) string {
	switch {
	case j.hops >= h.count:
		return ""
	case j.notFrozen != "":
		return fmt.Sprintf("%d of %d hops: it could not be frozen: %s", j.hops, h.count, j.notFrozen)
	}
	return fmt.Sprintf("%d of %d hops: the program ended first; --hop-every %v makes them sooner", j.hops, h.count, h.mean/2)
}

func (j *journey) stateHash() string {
	if j.last.StateHash == [sha256.Size]byte{} {
		return ""
	}
	return hex.EncodeToString(j.last.StateHash[:])
}

// travel runs a task to its end, in the processes of one pool after the other.
// A program that ends before its last hop makes fewer.
func (h *hopFlags) travel(ctx context.Context, pools []*sandbox.Pool, t sandbox.Task) (journey, error) {
	j := journey{checkpoints: []checkpointReport{}}
	t.ThawEvery = h.thaws
	pages := &blockMap{}
	left := t.Limits.Wall
	for {
		if j.hops < h.count {
			defer h.freezeSoon(&t, pages)()
		} else {
			t.Freeze, t.OnBegin = nil, nil
		}
		rep, err := pools[j.hops%len(pools)].Run(ctx, t)
		if err != nil {
			return j, err
		}
		j.last = rep
		if rep.NotFrozen != "" {
			j.notFrozen = rep.NotFrozen
		}
		j.wall, j.cpu = j.wall+rep.Wall, j.cpu+rep.CPU
		if n := len(j.checkpoints); n > 0 && len(t.From) > 0 {
			j.checkpoints[n-1].RestoreMs = milliseconds(rep.Restore)
		}
		for _, c := range rep.Checkpoints {
			j.checkpoints = append(j.checkpoints, checkpointReport{Bytes: c.Bytes, StoredBytes: c.StoredBytes, PauseMs: milliseconds(c.Pause)})
		}
		if rep.Outcome != task.Interrupted {
			return j, nil
		}
		if len(rep.Frozen) == 0 {
			return j, errors.New("the program was stopped but not frozen")
		}
		j.hops++
		t.From = rep.Frozen
		if left > 0 {
			t.Limits.Wall = max(left-j.wall, time.Nanosecond)
		}
	}
}

// freezeSoon has the task frozen after a random time, which counts from when
// the program itself runs. The function it returns stops that.
func (h *hopFlags) freezeSoon(t *sandbox.Task, pages sandbox.Store) (stop func()) {
	after := time.Duration(h.random.ExpFloat64() * float64(h.mean))
	now := make(chan struct{})
	var timer *time.Timer
	t.Pages, t.Freeze = pages, now
	t.OnBegin = func() { timer = time.AfterFunc(after, func() { close(now) }) }
	return func() {
		if timer != nil {
			timer.Stop()
		}
	}
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// blockMap keeps the blocks of checkpoints in memory.
type blockMap struct {
	mu sync.Mutex
	m  map[[sha256.Size]byte][]byte
}

// Has reports whether a block is kept.
func (b *blockMap) Has(h [sha256.Size]byte) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, ok := b.m[h]
	return ok
}

// Put keeps a block.
func (b *blockMap) Put(h [sha256.Size]byte, block []byte) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.m == nil {
		b.m = map[[sha256.Size]byte][]byte{}
	}
	b.m[h] = block
	return nil
}

// Get gives a block.
func (b *blockMap) Get(h [sha256.Size]byte) ([]byte, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if block, ok := b.m[h]; ok {
		return block, nil
	}
	return nil, fmt.Errorf("no block %x", h[:8])
}
