package disk_test

import "github.com/cockroachdb/pebble/v2/vfs"

// An unsynced file system is that of this machine, except that nobody waits until the disk has what is written: a test
// that damages files itself opens hundreds of stores, and would do nothing else.
type unsynced struct{ vfs.FS }

// An unsyncedFile is a file of one.
type unsyncedFile struct{ vfs.File }

func withoutSync(f vfs.File, err error) (vfs.File, error) {
	if err != nil {
		return nil, err
	}
	return unsyncedFile{f}, nil
}

// Create implements vfs.FS.
func (u unsynced) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return withoutSync(u.FS.Create(name, c))
}

// OpenReadWrite implements vfs.FS.
func (u unsynced) OpenReadWrite(name string, c vfs.DiskWriteCategory, opts ...vfs.OpenOption) (vfs.File, error) {
	return withoutSync(u.FS.OpenReadWrite(name, c, opts...))
}

// ReuseForWrite implements vfs.FS.
func (u unsynced) ReuseForWrite(old, name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return withoutSync(u.FS.ReuseForWrite(old, name, c))
}

// OpenDir implements vfs.FS.
func (u unsynced) OpenDir(name string) (vfs.File, error) { return withoutSync(u.FS.OpenDir(name)) }

// Sync implements vfs.File.
func (unsyncedFile) Sync() error { return nil }

// SyncData implements vfs.File.
func (unsyncedFile) SyncData() error { return nil }

// SyncTo implements vfs.File.
func (unsyncedFile) SyncTo(int64) (bool, error) { return true, nil }
