package blocks

import (
	"context"

	"godwit/task"

	"github.com/ipfs/go-cid"
)

// FetchPart is Fetch of what it takes to read the bytes from one offset up to another of a file:
// the leaves that have some of them, and the nodes above those. A leaf that is linked to more than once
// may be missing of it: a file that repeats itself is small, and Fetch brings it whole.
func (b *Store) FetchPart(ctx context.Context, root task.CID, holders []task.PeerID, bound Bound,
	from, to int64) error {
	c, err := parseCID(root)
	if err != nil {
		return err
	}
	return b.fetch(ctx, root, c, holders, bound, &part{from: from, to: to, at: map[cid.Cid]int64{c: 0}})
}

// A part is the bytes of a file that a fetch is for; nil for all.
type part struct {
	from, to int64
	at       map[cid.Cid]int64 // where the content of blocks begins that have some of it, as first met
}

// narrow returns those of the children of a block, first met, that have some of the part, and notes where
// they begin.
func (p *part) narrow(c cid.Cid, s shape, fresh []cid.Cid) []cid.Cid {
	if p == nil {
		return fresh
	}
	met := make(map[cid.Cid]bool, len(fresh))
	for _, f := range fresh {
		met[f] = true
	}
	within := fresh[:0]
	at := p.at[c]
	for i, l := range s.links {
		end := at + s.sizes[i]
		if met[l] && at < p.to && end > p.from {
			delete(met, l)
			p.at[l] = at
			within = append(within, l)
		}
		at = end
	}
	return within
}
