package p2p

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

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
	disk      *disk // of both
	log, bulk *database

	dirty   atomic.Bool // bulk was written to since its last flush began
	flushes sync.Mutex  // held while bulk is flushed
}

// inBulk reports whether a key may be in bulk.
func inBulk(k ds.Key) bool { return strings.HasPrefix(k.String(), blocksPrefix) }

// Get implements ds.Read.
func (s *store) Get(_ context.Context, k ds.Key) (v []byte, _ error) {
	if err := s.view(k, func(b []byte) error { v = bytes.Clone(b); return nil }); err != nil {
		return nil, err
	}
	return v, nil
}

// view calls see with a value where it lies, which see must not keep or change. With
// an error that is not see's, what see saw was nothing or nonsense.
func (s *store) view(k ds.Key, see func([]byte) error) error {
	for _, db := range []*database{s.bulk, s.log} {
		if db == s.bulk && !inBulk(k) {
			continue
		}
		var v []byte
		var done io.Closer
		err := s.guard(func() (err error) { v, done, err = db.pebble.Get(k.Bytes()); return err })
		if errors.Is(err, pebble.ErrNotFound) {
			continue
		}
		if err != nil {
			return fmt.Errorf("reading %s: %w", k, err)
		}
		seen := see(v)
		return errors.Join(s.guard(done.Close), seen) // a damaged value is told here alone
	}
	return ds.ErrNotFound
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
	keysOnly := q.KeysOnly && !q.ReturnsSizes && len(q.Filters) == 0
	bulk, err := s.iterate(s.bulk, q.Prefix, keysOnly)
	if err != nil {
		return nil, err
	}
	log, err := s.iterate(s.log, q.Prefix, keysOnly)
	if err != nil {
		return nil, errors.Join(err, bulk.close())
	}
	next := func() (query.Result, bool) {
		if r, ok := bulk.next(); ok {
			return r, true
		}
		for {
			r, ok := log.next()
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
		Close: func() error { return errors.Join(bulk.close(), log.close()) },
	})
	rest := q
	rest.Prefix = "" // both have it already
	return query.NaiveQueryApply(rest, both), nil
}

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

// Sync implements ds.Datastore. Calls that wait for one another share a flush.
func (s *store) Sync(ctx context.Context, k ds.Key) error {
	below := k.String() + "/"
	bulk := below == "//" || strings.HasPrefix(below, blocksPrefix)
	return s.disk.do(func() error {
		if err := s.log.Sync(ctx, k); err != nil || !bulk {
			return err
		}
		return s.flush(ctx)
	})
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

// Close implements io.Closer. On a full or damaged disk it may return after
// closeTime without having closed, with the reason, and does so at once when the store
// cannot go on. Then the directory stays locked until the process ends, and what was synced
// is there when it is opened again.
func (s *store) Close() error {
	done := make(chan error, 1)
	s.disk.enter()
	go func() {
		err := s.closeBoth()
		s.disk.leave(&s.disk.pending)
		done <- err
	}()
	look := time.NewTicker(roomEvery)
	defer look.Stop()
	for began := time.Now(); ; {
		select {
		case err := <-done:
			return err
		case <-look.C:
		}
		if err := s.disk.state(); err != nil && (errors.Is(err, ErrBroken) || time.Since(began) > s.disk.patience) {
			return fmt.Errorf("p2p: closing the store: %w", err)
		}
	}
}

// closeBoth closes the databases. One that panicked while it was read may do so
// again: it still refers to what it read.
func (s *store) closeBoth() error {
	return errors.Join(s.guard(s.log.Close), s.guard(s.bulk.Close))
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

// Commit implements ds.Batch. The batch may not be used after it.
func (b *storeBatch) Commit(context.Context) error {
	toBulk := func(c change) bool { return inBulk(c.key) && (c.delete || b.blocks >= bulkBytes) }
	toLog := func(c change) bool { return c.delete || !toBulk(c) }
	if b.bytes > 0 {
		if err := b.store.disk.room(b.bytes, b.blocks > 0); err != nil {
			return err
		}
	}
	bulk, err := b.batch(b.store.bulk, toBulk)
	if err != nil {
		return err
	}
	log, err := b.batch(b.store.log, toLog)
	if err != nil {
		return errors.Join(err, bulk.Close())
	}
	return b.store.disk.do(func() error {
		defer log.Close()
		defer bulk.Close()
		if !bulk.Empty() {
			if err := bulk.Commit(pebble.NoSync); err != nil {
				return err
			}
			b.store.dirty.Store(true)
		}
		if log.Empty() {
			return nil
		}
		return log.Commit(pebble.NoSync)
	})
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
