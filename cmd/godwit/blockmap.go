package main

import (
	"crypto/sha256"
	"fmt"
	"sync"
)

// blockMap keeps the blocks of checkpoints in memory.
type blockMap struct {
	mu sync.Mutex
	m  map[[sha256.Size]byte][]byte
}

// Has reports whether a block is kept.
func (b *blockMap) Has(h [sha256.Size]byte) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, ok := b.m[h]
	return ok
}

// Put keeps a block.
func (b *blockMap) Put(h [sha256.Size]byte, block []byte) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.m == nil {
		b.m = map[[sha256.Size]byte][]byte{}
	}
	b.m[h] = block
	return nil
}

// Get gives a block.
func (b *blockMap) Get(h [sha256.Size]byte) ([]byte, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if block, ok := b.m[h]; ok {
		return block, nil
	}
	return nil, fmt.Errorf("no block %x", h[:8])
}
