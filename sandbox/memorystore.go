package sandbox

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"sync"
)

// A MemoryStore is a Store that keeps its blocks in memory, for a task that is frozen
// and goes on in the same process. Its zero value is empty.
type MemoryStore struct {
	mu     sync.Mutex
	blocks map[[sha256.Size]byte][]byte
	bytes  int64
}

// Has reports whether a block is stored.
func (s *MemoryStore) Has(h [sha256.Size]byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.blocks[h]
	return ok
}

// Put stores a block, which it keeps. It never fails.
func (s *MemoryStore) Put(h [sha256.Size]byte, block []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.blocks == nil {
		s.blocks = map[[sha256.Size]byte][]byte{}
	}
	s.bytes += int64(len(block) - len(s.blocks[h]))
	s.blocks[h] = block
	return nil
}

// Get returns a block, which must not be changed. The error of one that is not stored
// is fs.ErrNotExist, wrapped.
func (s *MemoryStore) Get(h [sha256.Size]byte) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if block, ok := s.blocks[h]; ok {
		return block, nil
	}
	return nil, fmt.Errorf("block %x: %w", h[:8], fs.ErrNotExist)
}

// Bytes returns the size of all blocks stored, in bytes; each counts once.
func (s *MemoryStore) Bytes() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bytes
}
