package blocks

import (
	"context"
	"fmt"

	"godwit/p2p/wire"
	"godwit/task"

	"github.com/ipfs/go-cid"
)

// A measure follows a DAG from its root down. Every node says how large its children
// are, so whether the root tells the truth shows as the nodes below come: each must be
// as large as those above said. What the whole makes when it is read, each block as
// often as it is linked to, is thus known with the first block, and nothing below a lie
// is fetched or read. A block takes one entry, however often it is linked to.
type measure struct {
	bound  Bound
	root   cid.Cid
	said   map[cid.Cid]int64 // bytes that the nodes above say of each block met
	size   int64             // of the whole, once the root has come
	blocks int64             // more that may come; of the root on
	bytes  int64             // more that they may take
}

const (
	// spareBlocks and spareBytes are allowed beside what files of so many bytes take:
	// nodes in between, of which there are few, and what their links take.
	spareBlocks = 16
	spareBytes  = 64 << 10
)

func newMeasure(root cid.Cid, bound Bound) *measure {
	return &measure{bound: bound, root: root, said: map[cid.Cid]int64{root: 0}}
}

// meet takes in a block of so many bytes, each block once, the parents first, and returns
// the children that are met for the first time.
func (m *measure) meet(c cid.Cid, bytes int, s shape) (fresh []cid.Cid, err error) {
	if c == m.root {
		if err := m.bound.Allow(s.size); err != nil {
			return nil, err
		}
		m.size = s.size
		// A file that was imported here has a block for each chunkBytes, and few in
		// between; one in a tree has a block at least.
		m.blocks = 2*(int64(len(s.links))+s.size/chunkBytes) + spareBlocks
		m.bytes = 2*s.size + int64(bytes) + spareBytes
	} else if s.tree || s.size != m.said[c] {
		return nil, fmt.Errorf("%w: the block %s makes %d bytes, %d were said", ErrSize, c, s.size, m.said[c])
	}
	m.blocks--
	if m.bytes -= int64(bytes); m.blocks < 0 || m.bytes < 0 {
		return nil, fmt.Errorf("%w: it takes more blocks than a file of %d bytes", wire.ErrTooLarge, m.size)
	}
	for i, l := range s.links {
		said, met := m.said[l]
		switch {
		case !met:
			m.said[l] = s.sizes[i]
			fresh = append(fresh, l)
		case said != s.sizes[i]:
			return nil, fmt.Errorf("%w: the block %s is said to make %d bytes, and %d", ErrSize, l, said, s.sizes[i])
		}
	}
	return fresh, nil
}

// shape returns that of a block stored here; of a leaf no byte is read.
func (b *Store) shape(ctx context.Context, c cid.Cid, bytes int64) (shape, error) {
	if c.Prefix().Codec != cid.DagProtobuf {
		return shape{size: bytes}, nil
	}
	data, err := b.get(ctx, c)
	if err != nil {
		return shape{}, err
	}
	return shapeOf(c, data)
}

// Measure returns how many bytes a file makes when it is read, which the bound allows: see
// Open.
func (b *Store) Measure(ctx context.Context, root task.CID, bound Bound) (int64, error) {
	c, err := parseCID(root)
	if err != nil {
		return 0, err
	}
	return b.measure(ctx, c, bound)
}

// measure returns how many bytes the content of a root makes, which is here. What is
// not here of the rest counts for what is said of it.
func (b *Store) measure(ctx context.Context, root cid.Cid, bound Bound) (int64, error) {
	m := newMeasure(root, bound)
	for stack := []cid.Cid{root}; len(stack) > 0; {
		c := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		bytes, have, err := b.has(ctx, digestOf(c))
		switch {
		case err != nil:
			return 0, err
		case !have && c == root:
			return 0, fmt.Errorf("%w: %s", ErrNotFound, c)
		case !have:
			continue
		}
		s, err := b.shape(ctx, c, bytes)
		if err == nil && s.tree {
			err = fmt.Errorf("%w: %s is a tree, not a file", ErrSize, c)
		}
		if err != nil {
			return 0, err
		}
		fresh, err := m.meet(c, int(bytes), s)
		if err != nil {
			return 0, err
		}
		stack = append(stack, fresh...)
	}
	return m.size, ctx.Err()
}
