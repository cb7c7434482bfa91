package disk

import "time"

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
