package sandbox

import (
	"crypto/sha256"
	"sync"
)

// A known is the blocks that the parent has. It is safe for any goroutine; the zero value
// has none.
type known struct {
	mu     sync.Mutex
	blocks map[[sha256.Size]byte]bool
}

// add notes a block, and reports whether it was there before.
func (k *known) add(h [sha256.Size]byte) (was bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.blocks == nil {
		k.blocks = map[[sha256.Size]byte]bool{}
	}
	was = k.blocks[h]
	k.blocks[h] = true
	return was
}
