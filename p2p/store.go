package p2p

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"
	ds "github.com/ipfs/go-datastore"
	pebbleds "github.com/ipfs/go-ds-pebble"
)

// Sizes of the store. An idle node has to be small, and the system's page cache
// does for blocks what a larger cache here would do.
const (
	storeCache = 8 << 20 // both databases together
	storeFiles = 256     // open files of each
	filterBits = 10      // per key: one false answer in a hundred to whether a key is here

	// A database's table in memory grows to this under writes only. In bulk, a
	// batch of half its size is not copied into it but written out by itself.
	logMemtable  = 8 << 20
	bulkMemtable = 4 << 20

	unflushed = 48 << 20 // bytes that may wait to be written out; then writers wait
)

// OpenStore opens the store in dir, or makes one. A write is in the system's
// hands, or in this process's, within milliseconds; only what Sync has returned
// for is sure to survive the end of either. Values under /blocks must depend on
// their keys alone, as those of content-addressed blocks do. Nothing is
// compressed: blocks are pictures, archives and other files that rarely gain.
// The store is also an io.Closer, to be closed when nothing uses it any more.
//
// The error is ErrDiskFull when there is no room to open it, ErrCorrupt when what
// is in dir is no store or a damaged one, and neither when the directory is in use,
// or may not be read. What is damaged inside a file is found only when that is read:
// then whatever writes fails with ErrCorrupt. See also CheckStore.
//
// It is two pebble databases, dir/log and dir/bulk: see docs/RATIONALE.md, Why
// are there two databases in a node?
func OpenStore(dir string) (ds.Batching, error) {
	s, err := openStore(dir, vfs.Default)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// openStore opens both databases on a file system. They may wait for room while
// they open: then it returns without them, and they close when they have opened.
func openStore(dir string, fs vfs.FS) (*store, error) {
	d := newDisk(fs, dir)
	if err := fs.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("p2p: opening the store in %s: %w", dir, diskError(err))
	}
	if err := d.room(0, false); err != nil {
		return nil, fmt.Errorf("p2p: opening the store in %s: %w", dir, err)
	}
	var opened *store
	late, given := false, make(chan struct{}, 1) // guards late and opened
	given <- struct{}{}
	err := d.do(func() error {
		s, err := openBoth(dir, d)
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

func openBoth(dir string, d *disk) (s *store, err error) {
	var log *database
	defer func() {
		r := recover() // pebble trusts what it reads when it opens
		if r != nil {
			s, err = nil, fmt.Errorf("p2p: opening the store in %s: %w: %v", dir, ErrCorrupt, r)
		}
		if err != nil && log != nil {
			err = errors.Join(err, log.Close())
		}
	}()
	cache := pebble.NewCache(storeCache)
	defer cache.Unref() // the databases hold it
	log, err = openPebble(filepath.Join(dir, "log"), d, cache, logMemtable, true)
	if err != nil {
		return nil, err
	}
	bulk, err := openPebble(filepath.Join(dir, "bulk"), d, cache, bulkMemtable, false)
	if err != nil {
		return nil, err
	}
	d.opened.Store(true)
	s = &store{disk: d, log: log, bulk: bulk}
	if err := d.state(); errors.Is(err, ErrCorrupt) { // found while they opened
		return nil, errors.Join(err, s.guard(bulk.Close))
	}
	return s, nil
}

// A database is a pebble, and the same as a datastore, which closes it.
type database struct {
	*pebbleds.Datastore
	pebble *pebble.DB
}

func openPebble(dir string, d *disk, cache *pebble.Cache, memtable uint64, logged bool) (*database, error) {
	opts := &pebble.Options{
		Cache:                       cache,
		DisableWAL:                  !logged,
		MemTableSize:                memtable,
		MemTableStopWritesThreshold: int(unflushed / memtable),
		MaxOpenFiles:                storeFiles,
		FormatMajorVersion:          pebble.FormatValueSeparation,
		MaxManifestFileSize:         1 << 20,
		BytesPerSync:                1 << 20,
		FS:                          d,
		Logger:                      storeLog{d},
		EventListener:               &pebble.EventListener{DataCorruption: d.corrupt},
	}
	for i := range opts.Levels {
		opts.Levels[i].FilterPolicy = bloom.FilterPolicy(filterBits)
	}
	opts.ApplyCompressionSettings(func() pebble.DBCompressionSettings {
		return pebble.UniformDBCompressionSettings(sstable.NoCompression)
	})
	// Blocks are written once to files of their own, which compaction leaves
	// alone until a fifth of them is garbage.
	opts.Experimental.ValueSeparationPolicy = func() pebble.ValueSeparationPolicy {
		return pebble.ValueSeparationPolicy{
			Enabled: true, MinimumSize: 1 << 10, MaxBlobReferenceDepth: 1 << 10, TargetGarbageRatio: 0.2,
		}
	}
	db, err := pebble.Open(dir, opts)
	if err != nil {
		return nil, fmt.Errorf("p2p: opening the store in %s: %w", dir, openError(err))
	}
	store, err := pebbleds.NewDatastore(dir, pebbleds.WithPebbleDB(db))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("p2p: opening the store in %s: %w", dir, err), db.Close())
	}
	return &database{Datastore: store, pebble: db}, nil
}

// storeLog takes what pebble says. Its reports of every flush are of no use to an
// operator.
type storeLog struct{ disk *disk }

// Infof implements pebble.Logger.
func (storeLog) Infof(string, ...any) {}

// Errorf implements pebble.Logger.
func (storeLog) Errorf(format string, args ...any) {
	slog.Error("store: " + fmt.Sprintf(format, args...))
}

// Fatalf implements pebble.Logger. It must not return: the database cannot go on.
func (l storeLog) Fatalf(format string, args ...any) {
	l.Errorf(format, args...)
	l.disk.park(fmt.Errorf(format, args...))
}
