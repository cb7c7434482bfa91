package blocks

import (
	"context"
	"errors"
	"fmt"

	"godwit/p2p/wire"
	"godwit/task"

	"github.com/ipfs/go-cid"
	ds "github.com/ipfs/go-datastore"
)

// putBytes is how many bytes of blocks are written in one batch: what is larger than the
// processor's caches costs more to write, 3 to 10 % of a fetch with 16 MiB. The store has
// batches of half of it, too, go to files of their own. It is also what a transfer holds in
// memory, twice.
const putBytes = 4 << 20

// PutRecord stores a block of dag-cbor, such as a job's record, and returns its
// CID. Links inside are not followed, here or by Fetch.
func (b *Store) PutRecord(ctx context.Context, data []byte) (task.CID, error) {
	if len(data) > wire.MaxBlock {
		return "", fmt.Errorf("%w: record of %d bytes, at most %d", wire.ErrTooLarge, len(data), wire.MaxBlock)
	}
	c := cidOf(cid.DagCBOR, data)
	return textOf(c), b.put(ctx, []block{{c, data}})
}

// put writes blocks in one batch; those that are here already are only noted as
// used.
func (b *Store) put(ctx context.Context, blocks []block) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	batch, err := b.store.Batch(ctx)
	if err != nil {
		return fmt.Errorf("blocks: storing blocks: %w", err)
	}
	now := b.now()
	var added, count int64
	for _, bl := range blocks {
		d := digestOf(bl.cid)
		if s, have, err := b.stored(ctx, d); err != nil {
			return err
		} else if have {
			if now.Sub(s.at) < useGrain {
				continue
			}
			if err := b.noteUse(ctx, d, now); err != nil {
				return err
			}
			continue
		}
		added, count = added+int64(len(bl.data)), count+1
		err := errors.Join(
			batch.Put(ctx, dataKey(d), bl.data),
			batch.Put(ctx, sizeKey(d), stored{bytes: int64(len(bl.data)), at: now}.encode()))
		if err != nil {
			return fmt.Errorf("blocks: storing block %s: %w", bl.cid, err)
		}
	}
	if count == 0 {
		return nil
	}
	if b.quota != nil {
		if err := b.quota.Reserve(added); err != nil {
			return fmt.Errorf("%w: %w", ErrQuota, err)
		}
	}
	if err := batch.Commit(ctx); err != nil {
		if b.quota != nil {
			b.quota.Release(added)
		}
		return fmt.Errorf("blocks: storing blocks: %w", err)
	}
	b.resized(added)
	return nil
}

// Delete removes one block; one that is not here is no error.
func (b *Store) Delete(ctx context.Context, c task.CID) error {
	id, err := parseCID(c)
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	d := digestOf(id)
	n, have, err := b.has(ctx, d)
	if err != nil || !have {
		return err
	}
	batch, err := b.store.Batch(ctx)
	if err == nil {
		err = deleteBlock(ctx, batch, d)
	}
	if err == nil {
		err = batch.Commit(ctx)
	}
	if err != nil {
		return fmt.Errorf("blocks: deleting block %s: %w", c, err)
	}
	b.resized(-n)
	return nil
}

// deleteBlock has a batch delete a block and what is kept about it.
func deleteBlock(ctx context.Context, batch ds.Batch, d digest) error {
	return errors.Join(batch.Delete(ctx, sizeKey(d)), batch.Delete(ctx, dataKey(d)), batch.Delete(ctx, useKey(d)))
}
