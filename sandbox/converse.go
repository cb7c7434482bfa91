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
	"godwit/sandbox/wall"
	"godwit/sandbox/wasi"
	"godwit/task"
)

// ErrCheckpoint is wrapped by Run's error if Task.From is damaged, forged, or
// not of this task, or the Store lacks a part of it. The task can still begin
// anew, or go on from another checkpoint.
var ErrCheckpoint = freeze.ErrCheckpoint

// Foreign reports whether a checkpoint's manifest may well be a good one for another version of
// this program.
func Foreign(manifest []byte) bool { return freeze.Foreign(manifest) }

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

	tighten func()           // has the child stand still again, if all do
	walled  func(wall.State) // is told what keeps the child in

	write sync.Mutex   // orders, stages and answers go out from several goroutines
	asked atomic.Int64 // checkpoints, less those that came

	since time.Time // when it was given the task

	fuel uint64    // last passed on
	told time.Time // when

	trail  trail
	enough bool // no states at boundaries are wanted any more

	feed  *feed  // of a task whose state comes in stages; nil for others
	begun func() // called when the guest runs

	rep    Report // what is known before the end
	stored int64  // bytes of new blocks since the last checkpoint
	blocks int    // blocks since then, new or not
}

// exchange sends a task with what the child lacks for it, and hears it out.
// begun is called when its guest runs.
func (p *Pool) exchange(c *child, t Task, begun func()) (rep Report, err error) {
	v := &conversation{since: time.Now(), c: c, t: t, begun: begun, trail: newTrail(t), tighten: func() {
		p.tighten(c)
		p.cfg.Log.Info("task goes on that was to be frozen", "task", t.Name)
	}, walled: p.noteWall}
	if t.Stages != nil {
		v.feed = newFeed(v)
	}
	v.write.Lock() // until the task is handed over; its freezing may be asked for before
	defer p.steer(v)()
	defer func() {
		c.made.drop()
		if err != nil { // or what is being written to it might wait for ever
			_ = c.cmd.Process.Kill()
			if why := v.feed.failure(); why != nil {
				err = why
			}
		}
	}()
	if err := p.handOver(v); err != nil {
		return Report{}, err
	}
	return v.listen()
}

// handOver sends a task.
func (p *Pool) handOver(v *conversation) error {
	defer v.write.Unlock()
	run, err := p.supply(v.c, v.t)
	if err != nil {
		return err
	}
	if err := p.limitMemory(v.c, v.t.Limits); err != nil {
		p.cfg.Log.Warn("a sandbox's memory is not limited", "err", err)
	}
	if err := writeFrame(v.c.in, request{Run: run}, v.t.From); err != nil {
		return fmt.Errorf("handing over the task: %w", err)
	}
	return nil
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

func (v *conversation) tell(r request, body ...[]byte) error {
	v.write.Lock()
	defer v.write.Unlock()
	return writeFrame(v.c.in, r, body...)
}

// hear deals with one event.
func (v *conversation) hear(e event, body []byte) error {
	switch {
	case e.Not != nil:
		v.rep.NotFrozen = clip(e.Not.Why)
		if e.Not.Freeze { // it goes on, so it stands still again with the others
			v.tighten()
		}
		if v.t.OnNotSaved != nil {
			v.t.OnNotSaved(v.rep.NotFrozen, e.Not.Freeze)
		}
		return nil
	case e.Wall != nil:
		v.walled(*e.Wall)
		return nil
	case e.Made != noPart:
		if v.c.made == nil || !v.c.made.take(e.Made, body) {
			return errors.New("the sandbox process sent compiled code that no one asked for")
		}
		return nil
	case e.Loaded:
		return v.loaded()
	case e.Began && v.begun != nil:
		v.began()
		return nil
	case (e.Standby || e.Staged) && v.feed != nil:
		return v.feed.hear(e, &v.t)
	case e.Fuel > 0 && v.t.OnFuel != nil:
		v.progress(e.Fuel)
		return nil
	case e.Boundary != nil:
		return v.boundary(e.Boundary, body)
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

// loaded notes that the module is compiled, and that a guest may run from here on: nothing that comes now is kept
// of the
// module.
func (v *conversation) loaded() error {
	made := v.c.made
	if made == nil {
		return errors.New("the sandbox process loaded a module twice")
	}
	v.c.made = nil
	_ = made.keep() // it costs time
	if !v.t.ready { // or who waits for the module is to have this child, which is free in a moment
		v.c.loadOver()
	}
	return nil
}

// began notes that the guest runs.
func (v *conversation) began() {
	if v.feed != nil {
		v.rep.Restore = v.feed.sinceLast()
		v.trail.base = v.feed.fuelAtLast()
	}
	v.begun()
	v.begun = nil
	if v.t.OnBegin != nil {
		v.t.OnBegin()
	}
}

// progress passes on the fuel used, no oftener than was asked for, whatever the
// child sends.
func (v *conversation) progress(fuel uint64) {
	now := time.Now()
	if fuel <= v.fuel || now.Sub(v.told) < v.t.fuelEvery()/2 {
		return
	}
	v.fuel, v.told = fuel, now
	v.t.OnFuel(fuel)
}

// mostSent is how many blocks can come for one checkpoint: of its own, and of
// states before it that were sent ahead.
func (v *conversation) mostSent() int { return (1 + aheadTimes) * v.most() }

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
		if v.blocks++; v.blocks > v.mostSent() {
			return fmt.Errorf("the sandbox process sent more than the %d blocks that can come for a checkpoint", v.mostSent())
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
	man, hashes, err := v.complete(b)
	if err != nil {
		return err
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
		v.t.OnCheckpoint(b, man.State.Fuel, min(max(s.CPU, 0), time.Since(v.since)*childProcs)) // a child's word is checked
	}
	return nil
}

// complete reads a manifest of which all blocks have come.
func (v *conversation) complete(b []byte) (*freeze.Manifest, [][sha256.Size]byte, error) {
	man, err := freeze.DecodeManifest(b)
	if err != nil {
		return nil, nil, fmt.Errorf("the sandbox process sent a false checkpoint: %v", err)
	}
	hashes, err := blocksOf(man)
	if err != nil {
		return nil, nil, fmt.Errorf("the sandbox process sent a false checkpoint: %v", err)
	}
	for _, h := range hashes {
		if !v.t.Pages.Has(h) {
			return nil, nil, fmt.Errorf("the sandbox process sent a checkpoint without its block %x", h[:8])
		}
	}
	return man, hashes, nil
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
		rep.CPU, rep.Fuel, rep.Restore = max(r.CPU, 0), r.Fuel, max(r.Restore, early.Restore)
		rep.PeakMemory = min(max(r.PeakMemory, 0), v.t.Limits.Memory)
		rep.StateHash = sha256.Sum256(early.Frozen)
		err := v.trail.finish(&rep, false)
		return rep, err
	}
	if len(early.Frozen) > 0 {
		return Report{}, errors.New("the sandbox process ended a task otherwise that it had frozen")
	}
	rep, err := r.report(v.t, body)
	rep.Checkpoints, rep.NotFrozen, rep.Restore = early.Checkpoints, early.NotFrozen, max(rep.Restore, early.Restore)
	if err == nil {
		err = v.trail.finish(&rep, true)
	}
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
