package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"godwit/sandbox"
	"godwit/task"
)

// A journey is a run over all its hops.
type journey struct {
	last        sandbox.Report
	hops        int
	notFrozen   string // why the last freeze that failed did
	checkpoints []checkpointReport
	trail       []task.Boundary
	wall, cpu   time.Duration
}

// checkpointReport is one checkpoint in the JSON of `godwit exec`.
type checkpointReport struct {
	Bytes       int64   `json:"bytes"`        // of the whole state
	StoredBytes int64   `json:"stored_bytes"` // that were not stored yet
	PauseMs     float64 `json:"pause_ms"`
	RestoreMs   float64 `json:"restore_ms"`
}

// boundaryReport is one boundary in the JSON of `godwit exec`.
type boundaryReport struct {
	Fuel      uint64 `json:"fuel"`
	StateHash string `json:"state_hash"`
}

func (j *journey) boundaries() []boundaryReport {
	var out []boundaryReport
	for _, b := range j.trail {
		out = append(out, boundaryReport{b.Fuel, hex.EncodeToString(b.State[:])})
	}
	return out
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
	return fmt.Sprintf("%d of %d hops: the program ended first; --hop-every %v makes them sooner", j.hops, h.count,
		h.mean/2)
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
	pages := &sandbox.MemoryStore{}
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
			j.checkpoints = append(j.checkpoints, checkpointReport{Bytes: c.Bytes, StoredBytes: c.StoredBytes,
				PauseMs: milliseconds(c.Pause)})
		}
		j.trail = append(j.trail, rep.Trail...)
		if rep.Outcome != task.Interrupted {
			j.trail = sandbox.ThinTrail(j.trail, t.Spacing, rep.Fuel)
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
