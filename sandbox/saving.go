package sandbox

import (
	"context"
	"crypto/sha256"
	"runtime"
	"slices"
	"sync"
	"time"

	"godwit/sandbox/freeze"
	"godwit/task"
)

// A checkpoint of a task that goes on stops it only for as long as it takes to
// tell what changed and to copy that. Hashing, compressing and sending come
// after, and of a large state that is not known before: see prepare.

// copyMost is how many bytes of changed pages are copied; those beyond are
// hashed and compressed while the guest waits.
const copyMost = 256 << 20

// spareCopies is for how many bytes more than last time room is made ready.
const spareCopies = 4 << 20

// A checkpoint waits for a boundary for at most boundaryMost. Whether the guest stands still is known after boundaryLeast
// at the earliest.
const (
	boundaryLeast = time.Second
	boundaryMost  = 2 * time.Minute
)

// saveSoon asks for a checkpoint at the guest's next poll, unless the one
// before is not done yet: then there is another after that if it is wanted. Before
// that what can be done ahead is done, and room is made for the rest. One that is not wanted at once waits for a
// boundary, where the parent wants it there.
func (x *execution) saveSoon(wanted bool) {
	if wanted {
		if x.wanted.Store(true); x.awaited.Swap(false) {
			x.ready.ask(x.saveNow)
		}
	}
	if !x.saving.CompareAndSwap(false, true) {
		return
	}
	most, ask := min(copyMost, x.req.Limits.Memory), x.saveNow
	if x.req.Meets && x.req.Spacing > 0 && !wanted {
		ask = x.saveAtBoundary
	}
	go func() { x.ready.offer(newArena(x.prepare(), most), ask) }()
}

func (x *execution) saveNow() { x.machine.Checkpoint(x.save) }

// saveAtBoundary saves the guest at its next boundary, where other hosts save the same state. If the guest stands still, or
// reaches no boundary within boundaryMost, it is saved where it is. A slow guest is not: its speed is no reason to save a
// state that no other host has.
func (x *execution) saveAtBoundary() {
	if x.awaited.Store(true); x.wanted.Load() && x.awaited.Swap(false) { // it is wanted at once by now
		x.saveNow()
		return
	}
	fuel := x.machine.Fuel()
	wait := time.Duration(float64(3*task.SpacingAt(x.req.Spacing, fuel)) / task.ReferenceFuel * float64(time.Second))
	x.awaitBoundary(fuel, min(max(wait, boundaryLeast), boundaryMost), 0)
}

// awaitBoundary saves the guest where it is if its fuel is the same after a wait, or if it has waited for boundaryMost.
func (x *execution) awaitBoundary(fuel uint64, wait, waited time.Duration) {
	time.AfterFunc(wait, func() {
		now, total := x.machine.Fuel(), waited+wait
		if now != fuel && total < boundaryMost && x.awaited.Load() {
			x.awaitBoundary(now, wait, total)
		} else if x.awaited.Swap(false) {
			x.ready.ask(x.saveNow)
		}
	})
}

// savingDone says that a checkpoint was made, or could not be.
func (x *execution) savingDone() {
	x.saving.Store(false)
	if x.wanted.Load() {
		x.saveSoon(false)
	}
}

// notStopped is called when the guest goes on in spite of orders to stop.
func (x *execution) notStopped(err error) {
	x.mail.slow(0)
	x.awaited.Store(false)
	if room, offered := x.ready.take(false); offered {
		room.free()
		x.wanted.Store(false)
		x.saving.Store(false)
	}
	_ = x.out.event(event{Not: &notSaved{Why: clip(err.Error()), Freeze: x.mail.ordered()}})
	x.mail.forget()
}

// save makes a checkpoint of the guest, which is stopped for as long. A
// checkpoint that cannot be made is no reason to end the task.
func (x *execution) save(ctx context.Context, m *freeze.Machine) error {
	x.mail.slow(0)
	room, _ := x.ready.take(false)
	if wanted := x.wanted.Swap(false); !wanted && x.last.made && m.Fuel() == x.last.fuel { // it has not gone on since
		room.free()
		x.savingDone()
		return nil
	}
	c := &copies{x: x}
	s, system, err := x.small(ctx, c.add)
	var taken *freeze.Taken
	if err == nil {
		taken, err = x.recorder.Take(m.Memory(), room.page, x.send)
	}
	if err != nil {
		room.free()
		x.savingDone()
		return x.out.event(event{Not: &notSaved{Why: clip(err.Error())}})
	}
	x.last.made, x.last.fuel, x.last.sentAhead = true, m.Fuel(), 0
	x.last.copied.Store(int64(taken.Bytes()))
	still := make(chan time.Duration, 1)
	m.WhenGoesOn(func(d time.Duration) { still <- d })
	keepNaNs := x.program.Layout.Options.KeepNaNs
	x.writing.Go(func() {
		man, err := x.recorder.Finish(taken, s, system, keepNaNs, x.send) // a boundary waits for its hashes
		c.send()
		room.free()
		x.hand(man, err, still)
		runtime.GC() // of what is left; there is no other while the guest runs
		x.savingDone()
	})
	return nil
}

// hand sends a manifest, and how long the guest stood still for it. If the
// parent is gone the child ends anyway, so that errors of sending are not
// looked at.
func (x *execution) hand(man *freeze.Manifest, err error, still <-chan time.Duration) {
	var b []byte
	if err == nil {
		b, err = man.Encode()
	}
	if err != nil {
		_ = x.out.event(event{Not: &notSaved{Why: clip(err.Error())}})
		return
	}
	_ = x.out.event(event{Saved: &saved{Pause: <-still, CPU: cpuTime() - x.before}}, b)
}

// copies are blocks of files that wait to be sent.
type copies struct {
	x *execution

	mu     sync.Mutex
	bytes  int
	hashes [][sha256.Size]byte
	pages  [][]byte
}

// add copies a block, unless the parent has it.
func (c *copies) add(h [sha256.Size]byte, page []byte) error {
	if c.x.known.add(h) {
		return nil
	}
	c.mu.Lock()
	if c.bytes >= copyMost {
		c.mu.Unlock()
		return c.x.out.block(h, page)
	}
	defer c.mu.Unlock()
	c.bytes += len(page)
	c.hashes, c.pages = append(c.hashes, h), append(c.pages, slices.Clone(page))
	return nil
}

// send sends them, and forgets each.
func (c *copies) send() {
	for i, h := range c.hashes {
		_ = c.x.out.block(h, c.pages[i])
		c.pages[i] = nil
	}
}
