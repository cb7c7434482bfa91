package node

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	"godwit/scheduler/message"
	"godwit/task"
)

// ErrPanic is wrapped by what Run returns when a machine panicked: what it has in memory may
// be half changed. A node made anew on the same data goes on from what is durable, as after
// a crash, and does not take the same frame again.
var ErrPanic = errors.New("node: a machine panicked")

// poisonPrefix is where frames that made a machine panic are kept, by their hash.
const poisonPrefix = "poison/"

// maxPoison bounds how many of them are known; another is forgotten for one more. Each has
// cost this node a start, and its sender a connection.
const maxPoison = 1024

// A frameHash names a frame: a SHA-256 of its bytes.
type frameHash [sha256.Size]byte

// A poison is the frames that made a machine panic. They are not taken again. Any goroutine
// may use it.
type poison struct {
	mu     sync.Mutex
	frames map[frameHash]bool
}

// load takes in what is kept.
func (p *poison) load(ctx context.Context, s store) error {
	keys, err := s.keys(ctx, poisonPrefix)
	if err != nil {
		return err
	}
	p.frames = map[frameHash]bool{}
	for _, key := range keys {
		if b, err := hex.DecodeString(key[len(poisonPrefix):]); err == nil && len(b) == sha256.Size {
			p.frames[frameHash(b)] = true
		}
	}
	return nil
}

// has reports whether a frame is not to be taken.
func (p *poison) has(frame []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.frames) > 0 && p.frames[sha256.Sum256(frame)] // most nodes never hash a frame
}

// add notes a frame, durably.
func (p *poison) add(ctx context.Context, s store, frame []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	name := func(h frameHash) string { return poisonPrefix + hex.EncodeToString(h[:]) }
	h := frameHash(sha256.Sum256(frame))
	changes := []message.Persist{{Key: name(h), Value: []byte{1}}}
	for other := range p.frames {
		if len(p.frames) < maxPoison {
			break
		}
		delete(p.frames, other)
		changes = append(changes, message.Persist{Key: name(other)})
	}
	p.frames[h] = true
	return s.commit(ctx, changes)
}

// An arrival is a frame that the loop takes, or has taken since it last carried out effects.
type arrival struct {
	from  task.PeerID
	frame []byte
}

// turn does one turn of the loop, and ends it with an error where a machine panics: what it
// has in memory may be half changed then, and nothing of it is made durable or sent.
func (d *driver) turn(do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			d.pending = nil
			err = d.panicked(p, debug.Stack())
		}
	}()
	err = do()
	d.taken = nil
	return err
}

// takeFrame has a frame taken on the loop.
func (d *driver) takeFrame(a arrival, take func()) {
	d.taken, d.taking = append(d.taken, a), true
	take()
	d.taking = false
}

// panicked blames the frame that a machine panicked at: the one that was being taken, or the
// only one since effects were last carried out. Of several nobody knows which it was.
func (d *driver) panicked(p any, stack []byte) error {
	if n := len(d.taken); n == 1 || n > 0 && d.taking {
		d.spoil(d.taken[n-1], p, stack)
	} else {
		d.log.Error("a machine panicked; the node begins anew from what is durable, and this should be reported", "panic", p,
			"frames", n, "stack", string(stack))
	}
	return fmt.Errorf("%w: %v", ErrPanic, p)
}

// spoil keeps a frame from being taken again, blames its sender and tells the operator.
func (d *driver) spoil(a arrival, p any, stack []byte) {
	err := d.poison.add(context.WithoutCancel(d.tasks), d.store, a.frame)
	d.log.Error("a frame of a peer made this program panic; it is not taken again, and this should be reported", "peer",
		a.from, "bytes", len(a.frame), "hash", fmt.Sprintf("%x", sha256.Sum256(a.frame)), "panic", p, "kept", err == nil,
		"stack", string(stack))
	d.net.Blame(a.from)
}

// decode reads a frame on its sender's goroutine. No machine has seen it yet: a panic costs
// nothing but the frame.
func (h handler) decode(a arrival, read func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			h.n.spoil(a, p, debug.Stack())
			err = fmt.Errorf("%w: %v", ErrPanic, p)
		}
	}()
	return read()
}
