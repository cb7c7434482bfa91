package blocks

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"godwit/task"

	"github.com/ipfs/go-cid"
)

const (
	maxHolders    = 16 // that are asked at once; more only add overhead
	waitingBlocks = 16 // arrived and not yet taken by the writer
)

// Fetch gets a block and everything below it from several holders at once. Every
// block is checked against its CID as it comes, and stored even when the Fetch is
// broken off, so that the next asks only for what is missing. The bound is
// of what the content makes when it is read, whatever is here of it already. A block that
// contradicts those above it, or the bound, ends the Fetch; nothing below it is fetched.
//
// A holder that lies, fails or stalls is given up and the others get its share.
// The error names the holders and what was wrong with each: it is ErrNotFound
// when none has a block, wire.ErrTooLarge or ErrSize where the bound does not allow the
// content, ErrQuota when the store is full.
func (b *Store) Fetch(caller context.Context, root task.CID, holders []task.PeerID, bound Bound) error {
	c, err := parseCID(root)
	if err != nil {
		return err
	}
	return b.fetch(caller, root, c, holders, bound, nil)
}

// fetch is Fetch of a part.
func (b *Store) fetch(caller context.Context, root task.CID, c cid.Cid, holders []task.PeerID, bound Bound,
	of *part) error {
	ctx, cancel := context.WithCancel(caller)
	defer cancel()
	f := &fetch{
		caller: caller, ctx: ctx, cancel: cancel, blocks: b, measure: newMeasure(c, bound), part: of,
		wants:   map[cid.Cid]*want{},
		changed: make(chan struct{}), arrived: make(chan block, waitingBlocks), spares: make(chan []byte, maxSpares),
	}
	if err := f.expand([]cid.Cid{c}); err != nil {
		return fmt.Errorf("blocks: fetching %s: %w", root, err)
	}
	if len(f.wants) == 0 {
		return nil
	}
	if b.net == nil {
		return fmt.Errorf("blocks: fetching %s: %w, and this store has no network", root, ErrNotFound)
	}
	if err := f.run(f.choose(holders)); err != nil {
		return fmt.Errorf("blocks: fetching %s: %w", root, err)
	}
	return nil
}

// choose makes holders of peer IDs: each once, never ourselves.
func (f *fetch) choose(ids []task.PeerID) []*holder {
	var hs []*holder
	seen := map[task.PeerID]bool{}
	for _, id := range ids {
		p, err := f.blocks.net.Other(id)
		if err == nil && !seen[p] && len(hs) < maxHolders {
			seen[p] = true
			hs = append(hs, &holder{f: f, peer: p})
		}
	}
	return hs
}

func (f *fetch) run(holders []*holder) error {
	f.holders, f.working = holders, len(holders)
	var reading, writing sync.WaitGroup
	stored := errors.New("nothing stored")
	writing.Go(func() { stored = f.store() })
	for _, h := range holders {
		reading.Go(h.run)
	}
	reading.Wait()
	close(f.arrived)
	writing.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case stored != nil:
		return stored
	case f.err != nil:
		return f.err
	case len(f.wants) > 0:
		return f.describe()
	}
	return nil
}

// store writes what arrives, in batches of putBytes and a last one. It takes from
// arrived until that is closed, whatever happens.
func (f *fetch) store() error {
	var batch []block
	var bytes int
	var failed error
	put := func() {
		if failed == nil && len(batch) > 0 {
			if failed = f.blocks.put(context.WithoutCancel(f.ctx), batch); failed != nil {
				f.cancel()
			} else {
				f.recycle(batch)
			}
		}
		clear(batch)
		batch, bytes = batch[:0], 0
	}
	for bl := range f.arrived {
		batch, bytes = append(batch, bl), bytes+len(bl.data)
		if bytes >= putBytes {
			put()
		}
	}
	put()
	return failed
}

// maxSpares is how many blocks' memory is kept for those that come next, none of it larger than
// importers' blocks: 16 MiB.
const maxSpares = 64

// spare returns memory for the next block, or nil.
func (f *fetch) spare() []byte {
	select {
	case b := <-f.spares:
		return b
	default:
		return nil
	}
}

// recycle keeps the memory of blocks that were stored, where nobody else has it: the store is one
// that shows its values, so that it has its own, and they are leaves, to which nothing else refers.
func (f *fetch) recycle(stored []block) {
	if _, own := f.blocks.store.(viewer); !own {
		return
	}
	for _, bl := range stored {
		if bl.cid.Prefix().Codec != cid.Raw || cap(bl.data) > chunkBytes {
			continue
		}
		select {
		case f.spares <- bl.data:
		default:
			return
		}
	}
}
