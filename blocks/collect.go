package blocks

import (
	"context"
	"fmt"
	"iter"
	"time"

	"godwit/task"

	"github.com/ipfs/go-cid"
	"github.com/ipfs/go-datastore/query"
)

// collectStep is how many blocks Collect removes while it holds the store: some
// 50 ms at worst, and one write.
const collectStep = 1024

// Roots are blocks that are needed with all that they reach, given one after the other: nobody
// holds those of a million results. An error is the last, and then nothing is removed.
type Roots = iter.Seq2[task.CID, error]

// RootsOf are those of a list.
func RootsOf(list ...task.CID) Roots {
	return func(yield func(task.CID, error) bool) {
		for _, c := range list {
			if !yield(c, nil) {
				return
			}
		}
	}
}

// Collected is what a Collect removed.
type Collected struct {
	Blocks int
	Bytes  int64 // of the blocks, without the store's own overhead
}

// A compacter is a store that can be asked to give back the disk space of what
// was deleted from it.
type compacter interface {
	Compact(ctx context.Context, prefixes ...string) error
}

// Collect removes the blocks that nothing needs: those that no root reaches, by
// the links of dag-pb blocks (records and raw blocks have none), and that were
// last stored or used longer than olderThan ago. Used is a block that was stored
// again, imported again, named by a new tree, found here by Fetch, or by
// HasAll. Its age is known to useGrain, of which Collect takes the larger.
//
// The age protects what is under way: blocks of an import, a fetch or an upload
// are young before anything reaches them. olderThan must therefore be longer than
// any of these takes, from the first block to the moment when its root is among
// those given here; roots are to be gathered after that moment or not long before
// the call. An hour is good.
//
// A root that is not here reaches nothing, and is no error. Collect may run
// beside everything else; it takes 32 bytes and a map's share of as much for each
// block reached. After an error, or the end of ctx, what was removed is told too.
func (b *Store) Collect(ctx context.Context, roots Roots, olderThan time.Duration) (Collected, error) {
	before := b.now().Add(-olderThan - useGrain)
	marks, err := b.markAll(ctx, roots)
	if err != nil {
		return Collected{}, err
	}
	gone, err := b.sweep(ctx, marks, before)
	if err == nil {
		err = b.sweepUses(ctx, before)
	}
	if err == nil {
		err = b.compact(ctx, gone)
	}
	if err != nil {
		return gone, fmt.Errorf("blocks: collecting blocks: %w", err)
	}
	return gone, nil
}

// compact gives back the disk space of what has gone.
func (b *Store) compact(ctx context.Context, gone Collected) error {
	store, ok := b.store.(compacter)
	if !ok || gone.Blocks == 0 {
		return nil
	}
	return store.Compact(ctx, sizePrefix, dataPrefix, usePrefix)
}

// marks are the blocks reached; true for those whose links were followed, as the
// same bytes may be reached as a leaf first.
type marks map[digest]bool

// markAll returns what the roots reach.
func (b *Store) markAll(ctx context.Context, roots Roots) (marks, error) {
	marks := marks{}
	for root, err := range roots {
		if err != nil {
			return nil, err
		}
		c, err := parseCID(root)
		if err != nil {
			return nil, err
		}
		if err := b.mark(ctx, c, marks); err != nil {
			return nil, fmt.Errorf("blocks: collecting blocks: %w", err)
		}
	}
	return marks, nil
}

// mark adds what a root reaches. Only blocks that are here are remembered, so
// that a node full of links to nowhere takes no memory.
func (b *Store) mark(ctx context.Context, root cid.Cid, m marks) error {
	var inner []cid.Cid // to be followed; each is here, and marked
	reach := func(c cid.Cid) error {
		d, follow := digestOf(c), c.Prefix().Codec == cid.DagProtobuf
		if followed, marked := m[d]; followed || marked && !follow {
			return nil
		}
		if _, have, err := b.has(ctx, d); err != nil || !have {
			return err
		}
		m[d] = follow
		if follow {
			inner = append(inner, c)
		}
		return nil
	}
	if err := reach(root); err != nil {
		return err
	}
	for len(inner) > 0 {
		c := inner[len(inner)-1]
		inner = inner[:len(inner)-1]
		data, err := b.get(ctx, c)
		if err != nil {
			return err
		}
		links, err := linksOf(c, data)
		if err != nil {
			continue // nobody can read what is below it
		}
		for _, l := range links {
			if err := reach(l); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

// sweep removes what is not marked and was not used since a time.
func (b *Store) sweep(ctx context.Context, m marks, before time.Time) (Collected, error) {
	var gone Collected
	results, err := b.store.Query(ctx, query.Query{Prefix: sizePrefix})
	if err != nil {
		return gone, err
	}
	defer results.Close()
	var step []digest
	for r := range results.Next() {
		if r.Error != nil {
			return gone, r.Error
		}
		if err := ctx.Err(); err != nil {
			return gone, err
		}
		d, ok := digestIn(r.Key, sizePrefix)
		if !ok {
			continue // no key of ours
		}
		if _, marked := m[d]; marked || !readStored(r.Value).at.Before(before) {
			continue
		}
		if step = append(step, d); len(step) == collectStep {
			if err := b.remove(ctx, step, before, &gone); err != nil {
				return gone, err
			}
			step = step[:0]
		}
	}
	return gone, b.remove(ctx, step, before, &gone)
}

// remove deletes those blocks that were not used since a time, all in one batch:
// a block and its size go together, or a crash could leave a size without a block.
func (b *Store) remove(ctx context.Context, ds []digest, before time.Time, gone *Collected) error {
	if len(ds) == 0 {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	batch, err := b.store.Batch(ctx)
	if err != nil {
		return err
	}
	var n Collected
	for _, d := range ds {
		s, have, err := b.stored(ctx, d)
		if err != nil {
			return err
		}
		if !have || !s.at.Before(before) {
			continue
		}
		if err := deleteBlock(ctx, batch, d); err != nil {
			return err
		}
		n.Blocks, n.Bytes = n.Blocks+1, n.Bytes+s.bytes
	}
	if n.Blocks == 0 {
		return nil
	}
	if err := batch.Commit(ctx); err != nil {
		return err
	}
	b.resized(-n.Bytes)
	gone.Blocks, gone.Bytes = gone.Blocks+n.Blocks, gone.Bytes+n.Bytes
	return nil
}

// sweepUses removes the times of use of blocks that are not here, which a crash
// may leave.
func (b *Store) sweepUses(ctx context.Context, before time.Time) error {
	results, err := b.store.Query(ctx, query.Query{Prefix: usePrefix})
	if err != nil {
		return err
	}
	defer results.Close()
	for r := range results.Next() {
		if r.Error != nil {
			return r.Error
		}
		d, ok := digestIn(r.Key, usePrefix)
		if !ok || !readTime(r.Value).Before(before) {
			continue
		}
		b.mu.Lock()
		_, have, err := b.has(ctx, d)
		if err == nil && !have {
			err = b.store.Delete(ctx, useKey(d))
		}
		b.mu.Unlock()
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}
