package disk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	ds "github.com/ipfs/go-datastore"
)

// Open opens the store in dir, or makes one. A write is in the system's
// hands, or in this process's, within milliseconds; only what Sync has returned
// for is sure to survive the end of either. Values under /blocks must depend on
// their keys alone, as those of content-addressed blocks do. Nothing is
// compressed: blocks are pictures, archives and other files that rarely gain.
// The store is also an io.Closer, to be closed when nothing uses it any more.
//
// The error is ErrFull when there is no room to open it, ErrCorrupt when what
// is in dir is no store or a damaged one, and neither when the directory is in use,
// or may not be read. What is damaged inside a file is found only when that is read:
// then whatever writes fails with ErrCorrupt, and so does every Open until Recover. See
// also Check. Damaged files without data are made again, and a damaged manifest is replaced
// by its copy.
//
// It is two pebble databases, dir/log and dir/bulk, and files with large values in dir/segments:
// see docs/rationale.md, Why are there two databases in a node?
func Open(dir string) (ds.Batching, error) {
	s, err := open(dir, vfs.Default)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// open opens both databases on a file system. They may wait for room while
// they open: then it returns without them, and they close when they have opened.
func open(dir string, fs vfs.FS) (*store, error) {
	d := newDisk(fs, dir)
	if err := fs.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("blocks: opening the store in %s: %w", dir, diskError(err))
	}
	lock, err := pebble.LockDirectory(dir, fs)
	if err != nil {
		return nil, fmt.Errorf("blocks: opening the store in %s: %w", dir, openError(err))
	}
	if err := errors.Join(d.room(0, false), d.marked()); err != nil {
		return nil, errors.Join(fmt.Errorf("blocks: opening the store in %s: %w", dir, err), lock.Close())
	}
	var opened *store
	late, given := false, make(chan struct{}, 1) // guards late and opened
	given <- struct{}{}
	err = d.do(func() error {
		s, err := openBoth(dir, d, lock)
		<-given
		defer func() { given <- struct{}{} }()
		if late && err == nil {
			return s.closeBoth()
		}
		opened = s
		return err
	})
	<-given
	defer func() { given <- struct{}{} }()
	late = true
	if opened != nil {
		return opened, nil
	}
	return nil, err
}

// openBoth opens both databases of a directory that is locked. With an error the lock is released.
func openBoth(dir string, d *disk, lock io.Closer) (s *store, err error) {
	var log *database
	defer func() {
		r := recover() // pebble trusts what it reads when it opens
		if r != nil {
			s, err = nil, fmt.Errorf("blocks: opening the store in %s: %w: %v", dir, ErrCorrupt, r)
		}
		if err != nil && log != nil {
			err = errors.Join(err, log.Close())
		}
		if err != nil {
			err = errors.Join(err, lock.Close())
		}
	}()
	if err := settle(d, dir); err != nil {
		return nil, fmt.Errorf("blocks: opening the store in %s: %w", dir, openError(err))
	}
	cache := pebble.NewCache(storeCache)
	defer cache.Unref() // the databases hold it
	log, err = openPebble(filepath.Join(dir, "log"), d, cache, logMemtable, true)
	if err != nil {
		return nil, err
	}
	segments, err := openSegments(d, filepath.Join(dir, segmentsName))
	if err != nil {
		return nil, err
	}
	bulk, err := openPebble(filepath.Join(dir, "bulk"), orderedDisk{d, segments.sync}, cache, bulkMemtable, false)
	if err != nil {
		return nil, err
	}
	d.opened.Store(true)
	s = &store{disk: d, log: log, bulk: bulk, segments: segments, lock: lock}
	err = d.state()
	if !errors.Is(err, ErrCorrupt) { // found while they opened
		err = s.tidy(context.Background(), false) // of what a crash left
	}
	if err != nil {
		return nil, errors.Join(err, s.guard(bulk.Close), segments.close())
	}
	return s, nil
}
