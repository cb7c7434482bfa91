package disk

import (
	"time"

	"github.com/cockroachdb/pebble/v2"
	ds "github.com/ipfs/go-datastore"
)

// Store is what Open returns.
type Store = store

// OpenOn opens a store on a file system.
var OpenOn = open

// BulkBytes is the size from which a batch of blocks is written in bulk.
const BulkBytes = bulkBytes

// SetPatience changes how long Close waits for room.
func (s *store) SetPatience(d time.Duration) { s.disk.patience = d }

// FlushLog writes the log database's table in memory to a file.
func (s *store) FlushLog() error { return s.disk.do(s.log.pebble.Flush) }

// Databases are the two that the store is made of.
func (s *store) Databases() (log, bulk *database) { return s.log, s.bulk }

// Dirty reports whether bulk was written to since its last flush began.
func (s *store) Dirty() bool { return s.dirty.Load() }

// Placed reports whether a value lies in a segment.
func (s *store) Placed(k ds.Key) (bool, error) {
	_, have, err := s.place(k)
	return have, err
}

// PutPlace writes what is to be a place to bulk.
func (s *store) PutPlace(k ds.Key, v []byte) error {
	return s.bulk.pebble.Set(placeKey(k), v, pebble.NoSync)
}

// EncodePlace writes a place.
func EncodePlace(segment, at, bytes uint64, sum uint32) []byte {
	return place{segment, at, bytes, sum}.encode()
}

// DecodePlace reads one.
func DecodePlace(b []byte) (segment, at, bytes uint64, sum uint32, ok bool) {
	p, ok := readPlace(b)
	return p.segment, p.at, p.bytes, p.sum, ok
}
