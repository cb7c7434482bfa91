package guests

import (
	"crypto/sha256"
	"os"
	"sync"
)

// blocks is a sandbox.Store in memory.
type blocks struct {
	mu sync.Mutex
	m  map[[sha256.Size]byte][]byte
	n  int64
}

func newBlocks() *blocks { return &blocks{m: map[[sha256.Size]byte][]byte{}} }

func (b *blocks) Has(h [sha256.Size]byte) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, ok := b.m[h]
	return ok
}

func (b *blocks) Put(h [sha256.Size]byte, block []byte) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, ok := b.m[h]; !ok {
		b.n += int64(len(block))
	}
	b.m[h] = block
	return nil
}

func (b *blocks) Get(h [sha256.Size]byte) ([]byte, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if x, ok := b.m[h]; ok {
		return x, nil
	}
	return nil, os.ErrNotExist
}

func (b *blocks) size() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.n
}
