package disk

import (
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// tableSuffix ends the names of a database's tables.
const tableSuffix = ".sst"

// An orderedDisk is the disk as bulk has it: what a table says of segments is on disk before the
// table is, which bulk writes when it likes. A table counts once it was synced.
type orderedDisk struct {
	*disk
	before func() error // syncs the segments
}

// Create implements vfs.FS.
func (d orderedDisk) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := d.disk.Create(name, c)
	if err != nil || !strings.HasSuffix(name, tableSuffix) {
		return f, err
	}
	return orderedFile{f, d.before}, nil
}

// An orderedFile is a table.
type orderedFile struct {
	vfs.File
	before func() error
}

// Sync implements vfs.File.
func (f orderedFile) Sync() error {
	if err := f.before(); err != nil {
		return err
	}
	return f.File.Sync()
}

// SyncData implements vfs.File.
func (f orderedFile) SyncData() error {
	if err := f.before(); err != nil {
		return err
	}
	return f.File.SyncData()
}

// SyncTo implements vfs.File: what is synced in part counts for nothing, unless it is all.
func (f orderedFile) SyncTo(n int64) (bool, error) {
	if err := f.before(); err != nil {
		return false, err
	}
	return f.File.SyncTo(n)
}
