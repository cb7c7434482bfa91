package sandbox

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"godwit/sandbox/freeze"
	"godwit/sandbox/wasi"
	"godwit/task"
)

// ErrCheckpoint is wrapped by Run's error if Task.From is damaged, forged, or
// not of this task, or the Store lacks a part of it. The task can still begin
// anew, or go on from another checkpoint.
var ErrCheckpoint = freeze.ErrCheckpoint

// ErrTooDeep is wrapped by Run's error if the task's stack is, or in Task.From
// already was, deeper than this machine can hold, where there is no compiler for
// WebAssembly. It is no word about the task: another machine can go on from its
// last checkpoint, and to begin anew here is of no use.
var ErrTooDeep = freeze.ErrTooDeep

// A conversation is the parent's side of one run. The child has run a
// stranger's program: nothing it says is taken for true.
type conversation struct {
	c *child
	t Task

	write sync.Mutex   // orders and answers go out from two goroutines
	asked atomic.Int64 // checkpoints, less those that came

	fuel uint64    // last passed on
	told time.Time // when

	rep    Report // what is known before the end
	stored int64  // bytes of new blocks since the last checkpoint
	blocks int    // blocks since then, new or not
}

// exchange sends a task with what the child lacks for it, and hears it out.
func (p *Pool) exchange(c *child, t Task) (Report, error) {
	run, err := p.supply(c, t)
	if err != nil {
		return Report{}, err
	}
	if err := writeFrame(c.in, request{Run: run}, t.From); err != nil {
		return Report{}, fmt.Errorf("handing over the task: %w", err)
	}
	v := &conversation{c: c, t: t}
	defer v.steer()()
	return v.listen()
}

// listen deals with what the child says until the task's end.
func (v *conversation) listen() (Report, error) {
	c, t := v.c, v.t
	for {
		var e event
		body, err := readFrame(c.out, &e, max(t.Limits.Files+t.Limits.Output, freeze.MaxManifest))
		if err != nil {
			return Report{}, fmt.Errorf("waiting for the task: %w", err)
		}
		if e.End != nil {
			c.ready = true
			return v.end(e.End, body)
		}
		if err := v.hear(e, body); err != nil {
			return Report{}, err
		}
	}
}

// steer passes on the caller's wishes until the function it returns is called.
func (v *conversation) steer() (stop func()) {
	if v.t.Freeze == nil && v.t.Every <= 0 {
		return func() {}
	}
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		var tick <-chan time.Time
		if v.t.Every > 0 {
			t := time.NewTicker(v.t.Every)
			defer t.Stop()
			tick = t.C
		}
		for {
			select {
			case <-v.t.Freeze:
				v.asked.Add(1)
				_ = v.tell(request{Order: &order{Freeze: true}}) // a child that is gone is noticed elsewhere
				return
			case <-tick:
				v.asked.Add(1)
				_ = v.tell(request{Order: &order{Checkpoint: true}})
			case <-done:
				return
			}
		}
	})
	return func() { close(done); wg.Wait() }
}

func (v *conversation) tell(r request, body ...[]byte) error {
	v.write.Lock()
	defer v.write.Unlock()
	return writeFrame(v.c.in, r, body...)
}

// hear deals with one event.
func (v *conversation) hear(e event, body []byte) error {
	switch {
	case e.Not != "":
		v.rep.NotFrozen = clip(e.Not)
		return nil
	case e.Began && v.t.OnBegin != nil:
		v.t.OnBegin()
		v.t.OnBegin = nil
		return nil
	case e.Fuel > 0 && v.t.OnFuel != nil:
		v.progress(e.Fuel)
		return nil
	case v.t.Pages == nil:
		return errors.New("the sandbox process spoke of checkpoints that no one asked for")
	case len(e.Blocks) > 0:
		return v.keep(e.Blocks, body)
	case e.Want > 0:
		return v.provide(e.Want, body)
	case e.Saved != nil:
		return v.checkpoint(e.Saved, body)
	}
	return errors.New("the sandbox process sent an empty event")
}

// progress passes on the fuel used, no oftener than was asked for, whatever the
// child sends.
func (v *conversation) progress(fuel uint64) {
	now := time.Now()
	if fuel <= v.fuel || now.Sub(v.told) < tellFuel/2 {
		return
	}
	v.fuel, v.told = fuel, now
	v.t.OnFuel(fuel)
}

// most is how many blocks one checkpoint of the task can have.
func (v *conversation) most() int {
	l := v.t.Limits
	return int((l.Memory+l.Files+l.Output)/pageSize) + l.FileCount + wasi.MaxFDs
}

// keep stores blocks, each checked against its hash.
func (v *conversation) keep(sizes []int, body []byte) error {
	for _, size := range sizes {
		if size < 0 || size > len(body)-sha256.Size {
			return errors.New("the sandbox process sent blocks shorter than it said")
		}
		h := [sha256.Size]byte(body[:sha256.Size])
		block := body[sha256.Size : sha256.Size+size]
		body = body[sha256.Size+size:]
		if v.blocks++; v.blocks > v.most() {
			return fmt.Errorf("the sandbox process sent more than the %d blocks that a checkpoint can have", v.most())
		}
		if v.t.Pages.Has(h) {
			continue
		}
		if _, err := freeze.Decompress(block, h); err != nil {
			return fmt.Errorf("the sandbox process sent a false block: %v", err)
		}
		if err := v.t.Pages.Put(h, bytes.Clone(block)); err != nil {
			return &inputError{fmt.Errorf("storing a block of a checkpoint: %w", err)}
		}
		v.stored += int64(size)
	}
	return nil
}

// provide answers a wish for blocks.
func (v *conversation) provide(n int, body []byte) error {
	if n > maxBatch || len(body) != n*sha256.Size {
		return fmt.Errorf("the sandbox process wished for %d blocks in %d bytes", n, len(body))
	}
	var sizes []int
	var blocks [][]byte
	for ; len(body) > 0; body = body[sha256.Size:] {
		h := [sha256.Size]byte(body[:sha256.Size])
		b, err := v.t.Pages.Get(h)
		if err != nil {
			return fmt.Errorf("%w: block %x: %w", ErrCheckpoint, h[:8], err)
		}
		sizes, blocks = append(sizes, len(b)), append(blocks, b)
	}
	if err := v.tell(request{Blocks: sizes}, blocks...); err != nil {
		return fmt.Errorf("sending blocks: %w", err)
	}
	return nil
}

// checkpoint takes a manifest, if all it refers to is there.
func (v *conversation) checkpoint(s *saved, b []byte) error {
	if v.asked.Add(-1) < 0 && v.t.FreezeAtFuel == 0 || len(v.rep.Frozen) > 0 {
		return errors.New("the sandbox process sent a checkpoint that no one asked for")
	}
	man, err := freeze.DecodeManifest(b)
	if err != nil {
		return fmt.Errorf("the sandbox process sent a false checkpoint: %v", err)
	}
	hashes, err := blocksOf(man)
	if err != nil {
		return fmt.Errorf("the sandbox process sent a false checkpoint: %v", err)
	}
	for _, h := range hashes {
		if !v.t.Pages.Has(h) {
			return fmt.Errorf("the sandbox process sent a checkpoint without its block %x", h[:8])
		}
	}
	files := int64(len(hashes)-len(man.Pages)) * wasi.BlockSize
	v.rep.Checkpoints = append(v.rep.Checkpoints, CheckpointStat{
		Bytes:       int64(man.State.Pages)*pageSize + files + int64(len(b)),
		StoredBytes: v.stored + int64(len(b)), Pause: max(s.Pause, 0),
	})
	v.stored, v.blocks = 0, 0
	if s.Frozen {
		v.rep.Frozen = b
	} else if v.t.OnCheckpoint != nil {
		v.t.OnCheckpoint(b, man.State.Fuel)
	}
	return nil
}

// end makes the report.
func (v *conversation) end(r *response, body []byte) (Report, error) {
	if r.TooDeep {
		return Report{}, fmt.Errorf("%w (%s)", ErrTooDeep, clip(r.Refused))
	}
	if r.Refused != "" {
		return Report{}, fmt.Errorf("%w: %s", ErrCheckpoint, clip(r.Refused))
	}
	early := v.rep
	if r.Outcome == task.Interrupted && len(early.Frozen) > 0 && len(body) == 0 {
		rep := early
		rep.Outcome, rep.Message = task.Interrupted, "frozen"
		rep.CPU, rep.Fuel, rep.Restore = max(r.CPU, 0), r.Fuel, max(r.Restore, 0)
		rep.PeakMemory = min(max(r.PeakMemory, 0), v.t.Limits.Memory)
		rep.StateHash = sha256.Sum256(early.Frozen)
		return rep, nil
	}
	if len(early.Frozen) > 0 {
		return Report{}, errors.New("the sandbox process ended a task otherwise that it had frozen")
	}
	rep, err := r.report(v.t, body)
	rep.Checkpoints, rep.NotFrozen = early.Checkpoints, early.NotFrozen
	return rep, err
}

// PagesOf lists the blocks that a checkpoint refers to, some maybe more than
// once: the pages of its memory and of its files. The manifest may be anything;
// errors wrap ErrCheckpoint.
func PagesOf(manifest []byte) ([][sha256.Size]byte, error) {
	man, err := freeze.DecodeManifest(manifest)
	if err != nil {
		return nil, err
	}
	hashes, err := blocksOf(man)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCheckpoint, err)
	}
	return hashes, nil
}
