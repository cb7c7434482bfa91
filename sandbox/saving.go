package sandbox

import (
	"context"
	"crypto/sha256"
	"runtime"
	"slices"
	"sync"
	"time"

	"godwit/sandbox/freeze"
)

// A checkpoint of a task that goes on stops it only for as long as it takes to
// tell what changed and to copy that. Compressing and sending come after.

// copyWhole is up to how many bytes of memory are copied as they are for a
// first checkpoint, in which everything is new: hashing takes several times as
// long as copying, and can wait.
const copyWhole = 256 << 20

// copyMost is how many bytes of changed pages are copied; those beyond are
// compressed while the guest waits.
const copyMost = 128 << 20

// saveSoon asks for a checkpoint at the guest's next poll, unless the one
// before is not done yet.
func (x *execution) saveSoon() {
	if x.saving.CompareAndSwap(false, true) {
		x.machine.Checkpoint(x.save)
	}
}

// save makes a checkpoint of the guest, which is stopped for as long. A
// checkpoint that cannot be made is no reason to end the task.
func (x *execution) save(ctx context.Context, m *freeze.Machine) error {
	if x.saved && m.Fuel() == x.savedAt { // it has not gone on since the last
		x.saving.Store(false)
		return nil
	}
	x.savedAt = m.Fuel()
	still := make(chan time.Duration, 1)
	m.WhenGoesOn(func(d time.Duration) { still <- d })
	c := &copies{x: x}
	s, system, err := x.small(ctx, c.add)
	if err != nil {
		x.saving.Store(false)
		return x.out.event(event{Not: clip(err.Error())})
	}
	memory, keepNaNs := m.Memory(), x.program.Layout.Options.KeepNaNs
	record := func() (*freeze.Manifest, error) { return x.recorder.Record(s, memory, system, keepNaNs, c.add) }
	if !x.saved && len(memory) <= copyWhole {
		memory = slices.Clone(memory)
		record = func() (*freeze.Manifest, error) { return x.recorder.Record(s, memory, system, keepNaNs, x.send) }
	} else {
		man, err := record()
		record = func() (*freeze.Manifest, error) { return man, err }
	}
	x.saved = true
	x.writing.Go(func() {
		c.send()
		x.hand(record, still)
		x.saving.Store(false)
		runtime.GC() // of the copies; there is no other while the guest runs
	})
	return nil
}

// hand sends what save began, and how long the guest stood still for it. If
// the parent is gone the child ends anyway, so that errors of sending are not
// looked at.
func (x *execution) hand(record func() (*freeze.Manifest, error), still <-chan time.Duration) {
	man, err := record()
	var b []byte
	if err == nil {
		b, err = man.Encode()
	}
	if err != nil {
		_ = x.out.event(event{Not: clip(err.Error())})
		return
	}
	_ = x.out.event(event{Saved: &saved{Pause: <-still}}, b)
}

// copies are blocks that wait to be sent.
type copies struct {
	x *execution

	mu     sync.Mutex
	bytes  int
	hashes [][sha256.Size]byte
	pages  [][]byte
}

// add copies a block, unless the parent has it.
func (c *copies) add(h [sha256.Size]byte, page []byte) error {
	if c.x.knows(h) {
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
