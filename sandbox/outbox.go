package sandbox

import (
	"crypto/sha256"
	"io"
	"slices"
	"sync"

	"godwit/sandbox/freeze"
)

// An outbox is a child's way to its parent: frames of several goroutines, and
// blocks gathered into frames.
type outbox struct {
	w io.Writer

	mu    sync.Mutex
	sizes []int
	parts [][]byte
	bytes int

	free [][]byte // room for blocks: no garbage is collected while a guest runs
}

// event sends an event, after all blocks given before it.
func (o *outbox) event(e event, body ...[]byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.flush(); err != nil {
		return err
	}
	return writeFrame(o.w, e, body...)
}

// pieces sends an entry.
func (o *outbox) pieces(p part, parts [][]byte) error {
	for _, b := range parts {
		for piece := range slices.Chunk(b, maxBatchBytes) {
			if err := o.event(event{Made: p}, piece); err != nil {
				return err
			}
		}
	}
	return nil
}

// block compresses a page and sends it.
func (o *outbox) block(h [sha256.Size]byte, page []byte) error {
	b := freeze.CompressTo(o.room(), page)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.sizes, o.parts = append(o.sizes, len(b)), append(o.parts, h[:], b)
	if o.bytes += len(b); o.bytes >= maxBatchBytes/2 || len(o.sizes) >= maxBatch {
		return o.flush()
	}
	return nil
}

// flush sends the blocks that wait; o.mu is held.
func (o *outbox) flush() error {
	if len(o.sizes) == 0 {
		return nil
	}
	err := writeFrame(o.w, event{Blocks: o.sizes}, o.parts...)
	for k := 1; k < len(o.parts); k += 2 { // a hash, then its block
		o.free = append(o.free, o.parts[k][:0])
	}
	clear(o.parts)
	o.sizes, o.parts, o.bytes = o.sizes[:0], o.parts[:0], 0
	return err
}

// room gives room for a block, used before if there is any.
func (o *outbox) room() []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	if n := len(o.free); n > 0 {
		b := o.free[n-1]
		o.free = o.free[:n-1]
		return b
	}
	return make([]byte, 0, freeze.MaxBlock)
}
