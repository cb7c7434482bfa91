package disk

import (
	"os"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Create implements vfs.FS.
func (d *disk) Create(name string, c vfs.DiskWriteCategory) (f vfs.File, err error) {
	err = d.persist(func() error { f, err = d.FS.Create(name, c); return err })
	f, err = d.file(f, d.needed(err))
	if err == nil && isManifest(d.PathBase(name)) {
		f = d.copied(name, f)
	}
	return f, err
}

// OpenReadWrite implements vfs.FS.
func (d *disk) OpenReadWrite(name string, c vfs.DiskWriteCategory, opts ...vfs.OpenOption) (f vfs.File, err error) {
	err = d.persist(func() error { f, err = d.FS.OpenReadWrite(name, c, opts...); return err })
	return d.file(f, err)
}

// ReuseForWrite implements vfs.FS.
func (d *disk) ReuseForWrite(from, to string, c vfs.DiskWriteCategory) (f vfs.File, err error) {
	err = d.persist(func() error { f, err = d.FS.ReuseForWrite(from, to, c); return err })
	return d.file(f, d.needed(err))
}

// OpenDir implements vfs.FS.
func (d *disk) OpenDir(name string) (vfs.File, error) { return d.file(d.FS.OpenDir(name)) }

// Link implements vfs.FS.
func (d *disk) Link(from, to string) error {
	return d.persist(func() error { return d.FS.Link(from, to) })
}

// Rename implements vfs.FS.
func (d *disk) Rename(from, to string) error {
	return d.persist(func() error { return d.FS.Rename(from, to) })
}

// MkdirAll implements vfs.FS.
func (d *disk) MkdirAll(dir string, perm os.FileMode) error {
	return d.persist(func() error { return d.FS.MkdirAll(dir, perm) })
}

// Unwrap implements vfs.FS.
func (d *disk) Unwrap() vfs.FS { return d.FS }

// needed does not return from an error once the databases are open: pebble panics
// when it cannot go on to a new file. What opens them says what is wrong.
func (d *disk) needed(err error) error {
	if err != nil && d.opened.Load() {
		d.park(err)
	}
	return err
}

func (d *disk) file(f vfs.File, err error) (vfs.File, error) {
	if err != nil {
		return nil, err
	}
	return &diskFile{File: f, disk: d}, nil
}

// A diskFile is a file that a database writes.
type diskFile struct {
	vfs.File
	disk *disk
}

// Write implements vfs.File. What was written before the disk was full is not
// written again.
func (f *diskFile) Write(b []byte) (int, error) {
	n := 0
	err := f.disk.persist(func() error {
		m, err := f.File.Write(b[n:])
		n += m
		return err
	})
	return n, f.sure(err)
}

// WriteAt implements vfs.File.
func (f *diskFile) WriteAt(b []byte, at int64) (int, error) {
	n := 0
	err := f.disk.persist(func() error {
		m, err := f.File.WriteAt(b[n:], at+int64(n))
		n += m
		return err
	})
	return n, f.sure(err)
}

// Preallocate implements vfs.File. Without room it does nothing: it is a hint.
func (f *diskFile) Preallocate(offset, length int64) error {
	if err := f.File.Preallocate(offset, length); !isFull(err) {
		return err
	}
	return nil
}

// Sync implements vfs.File. After it failed the system may have dropped what was to
// be written, so that trying again proves nothing.
func (f *diskFile) Sync() error { return f.sure(f.File.Sync()) }

// SyncData implements vfs.File.
func (f *diskFile) SyncData() error { return f.sure(f.File.SyncData()) }

// SyncTo implements vfs.File.
func (f *diskFile) SyncTo(n int64) (bool, error) {
	all, err := f.File.SyncTo(n)
	return all, f.sure(err)
}

// sure does not return from an error.
func (f *diskFile) sure(err error) error {
	if err != nil {
		f.disk.park(err)
	}
	return nil
}
