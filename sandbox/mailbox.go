package sandbox

import (
	"cmp"
	"errors"
	"sync"

	"godwit/sandbox/freeze"
)

// A mailbox holds what the parent says to the task of one run frame. The
// goroutine that reads from the parent fills it; orders may come before there
// is a machine to obey them.
type mailbox struct {
	blocks chan frame    // answers to wishes; at most one is outstanding
	stages chan frame    // of a task whose state comes in stages
	ended  chan struct{} // closed when the task is over

	mu         sync.Mutex
	freeze     bool
	told       bool // the machine knows of freeze
	checkpoint bool
	wanted     bool    // a checkpoint, even if one is on its way
	share      float64 // of the time, that the machine is to run; 0 is all of it
	slowed     float64 // the same, while a checkpoint is made ahead
	shared     bool    // the machine knows of neither yet
	enough     bool    // no states at boundaries are wanted any more
	machine    *freeze.Machine
	save       func(wanted bool)
}

func newMailbox() *mailbox {
	return &mailbox{blocks: make(chan frame, 1), stages: make(chan frame), ended: make(chan struct{})}
}

// stage passes on a frame of a stage, and waits until it is taken.
func (b *mailbox) stage(f frame) {
	select {
	case b.stages <- f:
	case <-b.ended:
	}
}

// answered passes on an answer to a wish. One that no task waits for any more is dropped.
func (b *mailbox) answered(f frame) {
	select {
	case b.blocks <- f:
	case <-b.ended:
	}
}

// end says that nothing more is read from here.
func (b *mailbox) end() { close(b.ended) }

// order passes an order on.
func (b *mailbox) order(o *order) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.freeze = b.freeze || o.Freeze
	b.enough = b.enough || o.Enough
	b.checkpoint = b.checkpoint || o.Checkpoint || o.Save
	b.wanted = b.wanted || o.Save
	if o.Share > 0 {
		b.share, b.shared = min(o.Share, 1), true
	}
	b.deliver()
}

// attach names who obeys: save asks for a checkpoint: see
// execution.saveSoon. nil ends that.
func (b *mailbox) attach(m *freeze.Machine, save func(wanted bool)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.machine, b.save = m, save
	b.deliver()
}

// deliver carries out what was ordered; b.mu is held.
func (b *mailbox) deliver() {
	if b.machine == nil {
		return
	}
	if b.checkpoint && !b.freeze {
		b.save(b.wanted)
	}
	if b.freeze && !b.told {
		b.machine.Freeze()
		b.told = true
	}
	if b.shared {
		b.machine.Throttle(min(cmp.Or(b.share, 1), cmp.Or(b.slowed, 1)))
	}
	b.checkpoint, b.wanted, b.shared = false, false, false
}

// slow lets the machine run only a share of the time, or less if that was
// ordered; 0 ends that.
func (b *mailbox) slow(share float64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.slowed == share {
		return
	}
	b.slowed, b.shared = share, true
	b.deliver()
}

// ordered reports whether the parent ordered the task to freeze.
func (b *mailbox) ordered() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.freeze
}

// hasEnough reports whether the parent wants no more states at boundaries.
func (b *mailbox) hasEnough() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.enough
}

// answer gives the blocks of a wish, which was for n.
func (b *mailbox) answer(n int) ([][]byte, error) {
	f := <-b.blocks
	if len(f.Blocks) != n {
		return nil, errors.New("an answer of another length than the wish")
	}
	out := make([][]byte, n)
	for i, size := range f.Blocks {
		if size < 0 || size > len(f.body) {
			return nil, errors.New("an answer that is cut short")
		}
		out[i], f.body = f.body[:size:size], f.body[size:]
	}
	return out, nil
}

// forget takes an order to freeze back, since it could not be carried out.
func (b *mailbox) forget() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.freeze, b.told = false, false
}
