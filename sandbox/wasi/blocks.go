package wasi

import (
	"crypto/sha256"
	"slices"
)

// A file's blocks are hashed when its State is saved, and again only once they changed: a program may have written much
// long before, and be saved often.

// unknown stands for the hash of a block that changed since.
var unknown [sha256.Size]byte

// changed notes that bytes from to to-1 of the content are other than before, or may be.
func (n *Inode) changed(from, to int64) {
	for b := from / BlockSize; b < int64(len(n.sums)) && b*BlockSize < to; b++ {
		n.sums[b] = unknown
	}
}

// blocks gives the hashes of the content's blocks, and store, which may be nil, each of them.
func (n *Inode) blocks(store func([sha256.Size]byte, []byte) error) ([][sha256.Size]byte, error) {
	count := (len(n.Data) + BlockSize - 1) / BlockSize
	n.sums = slices.Grow(n.sums[:min(len(n.sums), count)], max(count-len(n.sums), 0))
	for b := range count {
		if b == len(n.sums) {
			n.sums = append(n.sums, unknown)
		}
		if n.sums[b] != unknown && store == nil {
			continue
		}
		block := n.block(b)
		if n.sums[b] == unknown {
			n.sums[b] = sha256.Sum256(block)
		}
		if store == nil {
			continue
		}
		if err := store(n.sums[b], block); err != nil {
			return nil, err
		}
	}
	return slices.Clone(n.sums), nil
}

// block is block b of the content; the last is filled up with zeros.
func (n *Inode) block(b int) []byte {
	at := b * BlockSize
	block := n.Data[at:min(at+BlockSize, len(n.Data))]
	if len(block) < BlockSize {
		block = append(make([]byte, 0, BlockSize), block...)[:BlockSize]
	}
	return block
}
