package sandbox

import (
	"errors"
	"sync"

	"godwit/sandbox/freeze"
)

// A mailbox holds what the parent says to the task of one run frame. The
// goroutine that reads from the parent fills it; orders may come before there
// is a machine to obey them.
type mailbox struct {
	blocks chan frame // answers to wishes; at most one is outstanding

	mu         sync.Mutex
	freeze     bool
	told       bool // the machine knows of freeze
	checkpoint bool
	machine    *freeze.Machine
	save       func()
}

func newMailbox() *mailbox { return &mailbox{blocks: make(chan frame, 1)} }

// order passes an order on.
func (b *mailbox) order(o *order) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.freeze = b.freeze || o.Freeze
	b.checkpoint = b.checkpoint || o.Checkpoint
	b.deliver()
}

// attach names who obeys: save asks for a checkpoint. nil ends that.
func (b *mailbox) attach(m *freeze.Machine, save func()) {
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
		b.save()
	}
	if b.freeze && !b.told {
		b.machine.Freeze()
		b.told = true
	}
	b.checkpoint = false
}

// ordered reports whether the parent ordered the task to freeze.
func (b *mailbox) ordered() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.freeze
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
