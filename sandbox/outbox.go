package sandbox

import (
	"crypto/sha256"
	"io"
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

// block compresses a page and sends it.
func (o *outbox) block(h [sha256.Size]byte, page []byte) error {
	b := freeze.Compress(page)
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
	o.sizes, o.parts, o.bytes = nil, nil, 0
	return err
}
