package disk

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
)

// A store is two databases and segments. What is small, and all that is not a block, goes to
// log, which writes it to its write-ahead log first and syncs that. Batches of
// blocks of bulkBytes and more go to bulk, which has no log: bytes reach the disk
// once, and Sync waits until they have. Of their values bulk has only the places, in
// segments that are on disk before it says so. A crash takes from bulk what was not
// synced, oldest kept first, and never half a batch.
type store struct {
	disk      *disk // of both
	log, bulk *database
	segments  *segments
	lock      io.Closer // of the directory

	dirty    atomic.Bool  // bulk was written to since its last flush began
	flushes  sync.Mutex   // held while bulk is flushed
	changing sync.RWMutex // held by who changes bulk; alone, by who moves values that nobody may delete meanwhile
	tidying  sync.Mutex   // held while segments are removed and rewritten
}

// BulkPrefix is what the keys of blocks begin with: only values below it may be in
// bulk. They must depend on their keys alone.
const BulkPrefix = "/blocks/"

// inBulk reports whether a key may be in bulk.
func inBulk(k ds.Key) bool { return strings.HasPrefix(k.String(), BulkPrefix) }

// Get implements ds.Read.
func (s *store) Get(_ context.Context, k ds.Key) (v []byte, _ error) {
	if err := s.View(k, func(b []byte) error { v = bytes.Clone(b); return nil }); err != nil {
		return nil, err
	}
	return v, nil
}

// View calls see with a value where it lies, which see must not keep or change. With
// an error that is not see's, what see saw was nothing or nonsense.
func (s *store) View(k ds.Key, see func([]byte) error) error {
	bulk := inBulk(k)
	if bulk {
		if err := s.viewIn(s.bulk, k, see); err == nil || !errors.Is(err, ds.ErrNotFound) {
			return err
		}
		if err := s.viewPlaced(k, see); err == nil || !errors.Is(err, ds.ErrNotFound) {
			return err
		}
	}
	return s.viewIn(s.log, k, see)
}

func (s *store) viewIn(db *database, k ds.Key, see func([]byte) error) error {
	var v []byte
	var done io.Closer
	err := s.guard(func() (err error) { v, done, err = db.pebble.Get(k.Bytes()); return err })
	if err == pebble.ErrNotFound {
		return ds.ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("reading %s: %w", k, err)
	}
	seen := see(v)
	return errors.Join(s.guard(done.Close), seen) // a damaged value is told here alone
}

// Has implements ds.Read.
func (s *store) Has(ctx context.Context, k ds.Key) (bool, error) {
	if inBulk(k) {
		if have, err := s.bulk.Has(ctx, k); have || err != nil {
			return have, err
		}
		if _, have, err := s.place(k); have || err != nil {
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
		if p, have, err := s.place(k); have || err != nil {
			return int(p.bytes), err
		}
	}
	return s.log.GetSize(ctx, k)
}

// Sync implements ds.Datastore. Calls that wait for one another share a flush.
func (s *store) Sync(ctx context.Context, k ds.Key) error {
	below := k.String() + "/"
	bulk := below == "//" || strings.HasPrefix(below, BulkPrefix)
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
			return fmt.Errorf("blocks: closing the store: %w", err)
		}
	}
}

// closeBoth closes the databases. One that panicked while it was read may do so
// again: it still refers to what it read.
func (s *store) closeBoth() error {
	return errors.Join(s.guard(s.log.Close), s.guard(s.bulk.Close), s.segments.close(), s.lock.Close())
}

// guard reads, and makes what pebble panics with on a damaged file an error: it does
// so for some damages to files of blocks (blob files) that it means to report.
func (s *store) guard(read func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: %v", ErrCorrupt, r)
			s.disk.fail(err)
		}
	}()
	err = diskError(read())
	if errors.Is(err, ErrCorrupt) {
		s.disk.fail(err)
	}
	return err
}
