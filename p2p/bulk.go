package p2p

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
	ds "github.com/ipfs/go-datastore"
	"github.com/ipfs/go-datastore/query"
)

// bulkBytes is the size from which a batch of blocks is written in bulk: half of
// bulkMemtable, so that pebble writes it out as it is. For less, syncing the log
// is cheaper than a flush, which makes two files.
const bulkBytes = bulkMemtable / 2

// A store is two databases. What is small, and all that is not a block, goes to
// log, which writes it to its write-ahead log first and syncs that. Batches of
// blocks of bulkBytes and more go to bulk, which has no log: bytes reach the disk
// once, and Sync waits until they have. A crash takes from bulk what was not
// synced, oldest kept first, and never half a batch.
type store struct {
	log, bulk *database

	dirty   atomic.Bool // bulk was written to since its last flush began
	flushes sync.Mutex  // held while bulk is flushed
}

// inBulk reports whether a key may be in bulk.
func inBulk(k ds.Key) bool { return strings.HasPrefix(k.String(), blocksPrefix) }

// Get implements ds.Read.
func (s *store) Get(ctx context.Context, k ds.Key) ([]byte, error) {
	if inBulk(k) {
		if v, err := s.bulk.Get(ctx, k); !errors.Is(err, ds.ErrNotFound) {
			return v, err
		}
	}
	return s.log.Get(ctx, k)
}

// view calls see with a value where it lies, which see must not keep or change.
func (s *store) view(k ds.Key, see func([]byte) error) error {
	v, done, err := s.bulk.pebble.Get(k.Bytes())
	if errors.Is(err, pebble.ErrNotFound) {
		v, done, err = s.log.pebble.Get(k.Bytes())
	}
	if errors.Is(err, pebble.ErrNotFound) {
		return ds.ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("reading %s: %w", k, err)
	}
	return errors.Join(see(v), done.Close())
}

// Has implements ds.Read.
func (s *store) Has(ctx context.Context, k ds.Key) (bool, error) {
	if inBulk(k) {
		if have, err := s.bulk.Has(ctx, k); have || err != nil {
			return have, err
		}
	}
	return s.log.Has(ctx, k)
}

// GetSize implements ds.Read.
func (s *store) GetSize(ctx context.Context, k ds.Key) (int, error) {
	if inBulk(k) {
		if n, err := s.bulk.GetSize(ctx, k); !errors.Is(err, ds.ErrNotFound) {
			return n, err
		}
	}
	return s.log.GetSize(ctx, k)
}

// Query implements ds.Read. A key that is in both databases, as one may be after
// a crash, is given once.
func (s *store) Query(ctx context.Context, q query.Query) (query.Results, error) {
	base := query.Query{Prefix: q.Prefix, KeysOnly: q.KeysOnly && len(q.Filters) == 0, ReturnsSizes: q.ReturnsSizes}
	bulk, err := s.bulk.Query(ctx, base)
	if err != nil {
		return nil, err
	}
	log, err := s.log.Query(ctx, base)
	if err != nil {
		return nil, errors.Join(err, bulk.Close())
	}
	next := func() (query.Result, bool) {
		if r, ok := bulk.NextSync(); ok {
			return r, true
		}
		for {
			r, ok := log.NextSync()
			if !ok || r.Error != nil {
				return r, ok
			}
			k := ds.RawKey(r.Key)
			if !inBulk(k) {
				return r, true
			}
			if have, err := s.bulk.Has(ctx, k); err != nil {
				return query.Result{Error: err}, true
			} else if !have {
				return r, true
			}
		}
	}
	both := query.ResultsFromIterator(q, query.Iterator{
		Next:  next,
		Close: func() error { return errors.Join(bulk.Close(), log.Close()) },
	})
	return query.NaiveQueryApply(q, both), nil
}

// Put implements ds.Write.
func (s *store) Put(ctx context.Context, k ds.Key, v []byte) error { return s.log.Put(ctx, k, v) }

// Delete implements ds.Write.
func (s *store) Delete(ctx context.Context, k ds.Key) error {
	if inBulk(k) {
		if err := s.bulk.Delete(ctx, k); err != nil {
			return err
		}
		s.dirty.Store(true)
	}
	return s.log.Delete(ctx, k)
}

// Sync implements ds.Datastore. Calls that wait for one another share a flush.
func (s *store) Sync(ctx context.Context, k ds.Key) error {
	if err := s.log.Sync(ctx, k); err != nil {
		return err
	}
	if below := k.String() + "/"; below != "//" && !strings.HasPrefix(below, blocksPrefix) {
		return nil
	}
	return s.flush(ctx)
}

func (s *store) flush(ctx context.Context) error {
	s.flushes.Lock()
	defer s.flushes.Unlock()
	if !s.dirty.Swap(false) {
		return nil
	}
	done, err := s.bulk.pebble.AsyncFlush()
	if err != nil {
		s.dirty.Store(true)
		return fmt.Errorf("flushing: %w", err)
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		s.dirty.Store(true)
		return ctx.Err()
	}
}

// Close implements io.Closer.
func (s *store) Close() error { return errors.Join(s.log.Close(), s.bulk.Close()) }

// Batch implements ds.Batching. What goes to bulk and what to the log is all or
// nothing each by itself.
func (s *store) Batch(context.Context) (ds.Batch, error) { return &storeBatch{store: s}, nil }

// A storeBatch collects changes, with the values as they were given, until
// Commit knows where they go. Values must not change before that.
type storeBatch struct {
	store   *store
	changes []change
	blocks  int // bytes of the values that may go to bulk
}

// A change stores a value under a key, or deletes the key.
type change struct {
	key    ds.Key
	value  []byte
	delete bool
}

// batchOverhead is what pebble's batch adds to a key and a value: at most, kind
// and lengths.
const batchOverhead = 16

func (b *storeBatch) add(c change) {
	if inBulk(c.key) {
		b.blocks += len(c.value)
	}
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

// Commit implements ds.Batch. The batch may not be used after it.
func (b *storeBatch) Commit(context.Context) error {
	toBulk := func(c change) bool { return inBulk(c.key) && (c.delete || b.blocks >= bulkBytes) }
	toLog := func(c change) bool { return c.delete || !toBulk(c) }
	if wrote, err := b.apply(b.store.bulk, toBulk); err != nil {
		return err
	} else if wrote {
		b.store.dirty.Store(true)
	}
	_, err := b.apply(b.store.log, toLog)
	return err
}

// apply writes the changes chosen to one database, and says whether there were
// any. The buffer is made of its full size at once: grown, it would be copied.
func (b *storeBatch) apply(db *database, chosen func(change) bool) (bool, error) {
	size := 0
	for _, c := range b.changes {
		if chosen(c) {
			size += len(c.key.String()) + len(c.value) + batchOverhead
		}
	}
	if size == 0 {
		return false, nil
	}
	batch := db.pebble.NewBatchWithSize(size + batchOverhead)
	defer batch.Close()
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
			return false, fmt.Errorf("writing %s: %w", c.key, err)
		}
	}
	return true, batch.Commit(pebble.NoSync)
}
