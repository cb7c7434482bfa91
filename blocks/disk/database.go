package disk

import (
	"errors"
	"fmt"
	"log/slog"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"
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

// A database is a pebble, and the same as a datastore, which closes it.
type database struct {
	*pebbleds.Datastore
	pebble *pebble.DB
}

// A storeDisk is a disk as one of the databases has it.
type storeDisk interface {
	vfs.FS
	corrupt(info pebble.DataCorruptionInfo)
	park(err error)
}

func openPebble(dir string, fs storeDisk, cache *pebble.Cache, memtable uint64, logged bool) (*database, error) {
	opts := &pebble.Options{
		Cache:                       cache,
		DisableWAL:                  !logged,
		MemTableSize:                memtable,
		MemTableStopWritesThreshold: int(unflushed / memtable),
		MaxOpenFiles:                storeFiles,
		FormatMajorVersion:          pebble.FormatValueSeparation,
		MaxManifestFileSize:         1 << 20,
		BytesPerSync:                1 << 20,
		FS:                          fs,
		Logger:                      storeLog{fs},
		EventListener:               &pebble.EventListener{DataCorruption: fs.corrupt},
	}
	for i := range opts.Levels {
		opts.Levels[i].FilterPolicy = bloom.FilterPolicy(filterBits)
	}
	opts.ApplyCompressionSettings(func() pebble.DBCompressionSettings {
		return pebble.UniformDBCompressionSettings(sstable.NoCompression)
	})
	// Pebble's own looks ten times a second whether it may compact more at once than it does; this
	// one when a compaction or a write ends. What waits is never without one of those: see
	// docs/rationale.md, Why does an idle node sleep?
	opts.Experimental.CompactionScheduler = pebble.NewConcurrencyLimitSchedulerWithNoPeriodicGrantingForTest()
	// Blocks are written once to files of their own, which compaction leaves
	// alone until a fifth of them is garbage.
	opts.Experimental.ValueSeparationPolicy = func() pebble.ValueSeparationPolicy {
		return pebble.ValueSeparationPolicy{
			Enabled: true, MinimumSize: 1 << 10, MaxBlobReferenceDepth: 1 << 10, TargetGarbageRatio: 0.2,
		}
	}
	if err := fs.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("blocks: opening the store in %s: %w", dir, openError(err))
	}
	if err := prepare(fs, dir); err != nil {
		return nil, fmt.Errorf("blocks: opening the store in %s: %w", dir, openError(err))
	}
	opts.Experimental.SpanPolicyFunc = inPlace
	db, err := pebble.Open(dir, opts)
	if err != nil {
		return nil, fmt.Errorf("blocks: opening the store in %s: %w", dir, openError(err))
	}
	store, err := pebbleds.NewDatastore(dir, pebbleds.WithPebbleDB(db))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("blocks: opening the store in %s: %w", dir, err), db.Close())
	}
	return &database{Datastore: store, pebble: db}, nil
}

// storeLog takes what pebble says. Its reports of every flush are of no use to an
// operator.
type storeLog struct{ disk storeDisk }

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

// inPlace keeps all values but blocks in the tables themselves: a table can then be read if nothing
// else is left, and damage to a file of values costs blocks only.
func inPlace(start []byte) (policy pebble.SpanPolicy, end []byte, _ error) {
	after := BulkPrefix[:len(BulkPrefix)-1] + "0" // which follows "/"
	policy.ValueStoragePolicy = pebble.ValueStorageLowReadLatency
	switch {
	case string(start) < BulkPrefix:
		return policy, []byte(BulkPrefix), nil
	case string(start) < after:
		return pebble.SpanPolicy{}, []byte(after), nil
	}
	return policy, nil, nil
}
