package blocks

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	ds "github.com/ipfs/go-datastore"
	"github.com/ipfs/go-datastore/query"
)

// IsValue reports whether a value of a datastore is the block that its key names. It returns false
// for keys that name no block.
func IsValue(key string, value []byte) bool {
	d, ok := digestIn(key, dataPrefix)
	return ok && sha256.Sum256(value) == [sha256.Size]byte(d)
}

// Mend makes the blocks of a datastore consistent that was recovered from a damaged one: a record
// without its block is removed, and a block without its record gets one, as if it was stored long
// ago. It returns the number of blocks. Nothing else may use the datastore.
func Mend(ctx context.Context, store ds.Batching) (count int, err error) {
	batch, err := store.Batch(ctx)
	if err != nil {
		return 0, fmt.Errorf("blocks: mending the store: %w", err)
	}
	err = errors.Join(
		eachKey(ctx, store, sizePrefix, func(d digest) error {
			have, err := store.Has(ctx, dataKey(d))
			if err == nil && !have {
				err = batch.Delete(ctx, sizeKey(d))
			}
			return err
		}),
		eachKey(ctx, store, dataPrefix, func(d digest) error {
			count++
			have, err := store.Has(ctx, sizeKey(d))
			if err != nil || have {
				return err
			}
			size, err := store.GetSize(ctx, dataKey(d))
			if err != nil {
				return err
			}
			return batch.Put(ctx, sizeKey(d), stored{int64(size), time.Unix(0, 0)}.encode())
		}))
	if err == nil {
		err = batch.Commit(ctx)
	}
	if err == nil {
		err = store.Sync(ctx, ds.NewKey("/blocks"))
	}
	if err != nil {
		return count, fmt.Errorf("blocks: mending the store: %w", err)
	}
	return count, nil
}

// eachKey calls see with the digest in each key below a prefix.
func eachKey(ctx context.Context, store ds.Batching, prefix string, see func(digest) error) error {
	results, err := store.Query(ctx, query.Query{Prefix: prefix, KeysOnly: true})
	if err != nil {
		return err
	}
	defer results.Close()
	for r := range results.Next() {
		if r.Error != nil {
			return r.Error
		}
		d, ok := digestIn(r.Key, prefix)
		if !ok {
			continue
		}
		if err := see(d); err != nil {
			return err
		}
	}
	return nil
}
