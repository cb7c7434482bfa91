package disk

import (
	"context"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
	ds "github.com/ipfs/go-datastore"
)

// bulkBytes is the size from which a batch of blocks is written in bulk: half of
// bulkMemtable, so that pebble writes it out as it is. For less, syncing the log
// is cheaper than a flush, which makes two files.
const bulkBytes = bulkMemtable / 2

// Put implements ds.Write.
func (s *store) Put(ctx context.Context, k ds.Key, v []byte) error {
	b := &storeBatch{store: s}
	return errors.Join(b.Put(ctx, k, v), b.Commit(ctx))
}

// Delete implements ds.Write.
func (s *store) Delete(ctx context.Context, k ds.Key) error {
	b := &storeBatch{store: s}
	return errors.Join(b.Delete(ctx, k), b.Commit(ctx))
}

// Batch implements ds.Batching. What goes to bulk and what to the log is all or
// nothing each by itself.
func (s *store) Batch(context.Context) (ds.Batch, error) { return &storeBatch{store: s}, nil }

// A storeBatch collects changes, with the values as they were given, until
// Commit knows where they go. Values must not change before that.
type storeBatch struct {
	store   *store
	changes []change
	blocks  int // bytes of the values that may go to bulk
	bytes   int // of all values
}

// A change stores a value under a key, or deletes the key.
type change struct {
	key    ds.Key
	value  []byte
	delete bool
}

// segmentValue is the size from which a value of a batch that goes to bulk is written to a
// segment. Its place takes some 80 bytes in bulk.
const segmentValue = 4 << 10

// batchOverhead is what pebble's batch adds to a key and a value: at most, kind
// and lengths.
const batchOverhead = 16

func (b *storeBatch) add(c change) {
	if inBulk(c.key) {
		b.blocks += len(c.value)
	}
	b.bytes += len(c.value)
	b.changes = append(b.changes, c)
}

// Put implements ds.Write.
func (b *storeBatch) Put(_ context.Context, k ds.Key, v []byte) error {
	b.add(change{key: k, value: v})
	return nil
}

// Delete implements ds.Write.
func (b *storeBatch) Delete(_ context.Context, k ds.Key) error {
	b.add(change{key: k, delete: true})
	return nil
}

// Commit implements ds.Batch. The batch may not be used after it. When it fails the values
// still may not change: they are written once there is room.
func (b *storeBatch) Commit(context.Context) error {
	// The end of what goes to bulk, too, goes there: Sync has to flush it anyway.
	large := b.blocks >= bulkBytes || b.store.dirty.Load()
	toBulk := func(c change) bool { return inBulk(c.key) && (c.delete || large) }
	toLog := func(c change) bool { return c.delete || !toBulk(c) }
	if b.bytes > 0 {
		if err := b.store.disk.room(b.bytes, b.blocks > 0); err != nil {
			return err
		}
	}
	log, err := b.batch(b.store.log, toLog)
	if err != nil {
		return err
	}
	return b.store.disk.do(func() error {
		defer log.Close()
		if err := b.commitBulk(toBulk); err != nil {
			return err
		}
		if log.Empty() {
			return nil
		}
		return log.Commit(pebble.NoSync)
	})
}

// commitBulk writes the changes chosen to bulk, and large values to segments before it.
func (b *storeBatch) commitBulk(chosen func(change) bool) error {
	large := func(c change) bool { return chosen(c) && !c.delete && len(c.value) >= segmentValue }
	bulk, err := b.batch(b.store.bulk, func(c change) bool { return chosen(c) && !large(c) })
	if err != nil {
		return err
	}
	defer bulk.Close()
	var keys []ds.Key
	var values [][]byte
	for _, c := range b.changes {
		if large(c) {
			keys, values = append(keys, c.key), append(values, c.value)
		} else if c.delete && chosen(c) {
			if err := bulk.Delete(placeKey(c.key), nil); err != nil {
				return fmt.Errorf("deleting %s: %w", c.key, err)
			}
		}
	}
	places, err := b.store.segments.write(values)
	if err != nil {
		return err
	}
	for i, p := range places {
		if err := bulk.Set(placeKey(keys[i]), p.encode(), nil); err != nil {
			return fmt.Errorf("writing %s: %w", keys[i], err)
		}
	}
	if bulk.Empty() {
		return nil
	}
	b.store.changing.RLock()
	defer b.store.changing.RUnlock()
	if err := bulk.Commit(pebble.NoSync); err != nil {
		return err
	}
	b.store.dirty.Store(true)
	return nil
}

// batch copies the changes chosen for one database. The buffer is made of its full
// size at once: grown, it would be copied.
func (b *storeBatch) batch(db *database, chosen func(change) bool) (*pebble.Batch, error) {
	size := 0
	for _, c := range b.changes {
		if chosen(c) {
			size += len(c.key.String()) + len(c.value) + batchOverhead
		}
	}
	batch := db.pebble.NewBatchWithSize(size + batchOverhead)
	for _, c := range b.changes {
		if !chosen(c) {
			continue
		}
		var err error
		if c.delete {
			err = batch.Delete(c.key.Bytes(), nil)
		} else {
			err = batch.Set(c.key.Bytes(), c.value, nil)
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("writing %s: %w", c.key, err), batch.Close())
		}
	}
	return batch, nil
}
