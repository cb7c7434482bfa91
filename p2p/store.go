package p2p

import (
	"fmt"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/sstable"
	ds "github.com/ipfs/go-datastore"
	pebbleds "github.com/ipfs/go-ds-pebble"
)

// Sizes of the store. An idle node has to be small, and the system's page cache
// does for blocks what a larger cache here would do.
const (
	storeCache    = 8 << 20
	storeMemtable = 16 << 20 // grows to this under writes only
	storeFiles    = 256      // open files
)

// OpenStore opens the pebble store in dir, or makes one. Writes are in the
// write-ahead log at once and so survive the end of the process; Sync makes
// them survive the end of the machine. Nothing is compressed: blocks are
// pictures, archives and other files that rarely gain.
func OpenStore(dir string) (ds.Batching, error) {
	opts := &pebble.Options{
		MemTableSize:                storeMemtable,
		MemTableStopWritesThreshold: 4, // three may wait to be written out
		MaxOpenFiles:                storeFiles,
		FormatMajorVersion:          pebble.FormatValueSeparation,
		MaxManifestFileSize:         1 << 20,
		BytesPerSync:                1 << 20,
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
	store, err := pebbleds.NewDatastore(dir, pebbleds.WithPebbleOpts(opts), pebbleds.WithCacheSize(storeCache))
	if err != nil {
		return nil, fmt.Errorf("p2p: opening the store in %s: %w", dir, err)
	}
	return store, nil
}
