package p2p

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

const (
	// roomEvery is how often a write that found no room is tried again.
	roomEvery = 250 * time.Millisecond

	// closeTime is how long closing waits for room: less than service managers wait
	// for a program to end.
	closeTime = 5 * time.Second

	// Room that is left free on the disk: reserveBytes, or a share of a small disk.
	// Blocks stop there; what is not a block, so that the node can end what it has
	// begun, at a quarter of it; deleting, which makes room in the end, never.
	reserveBytes = 128 << 20
	reserveShare = 20
	stateShare   = 4
)

// A disk is the file system as the store's databases see it. They cannot go on
// after a write that failed: what is in memory and what is on disk differ then. So
// no write of theirs ever fails. One that finds no room waits for some, and the
// store refuses new ones meanwhile; one that fails otherwise waits for ever, and
// the store is broken, which the process survives.
type disk struct {
	vfs.FS
	dir      string
	patience time.Duration // of closing: closeTime
	opened   atomic.Bool   // both databases are open

	mu      sync.Mutex
	pending int           // operations of the store under way
	waiting int           // writes that wait for room
	full    bool          // since a write began to wait, until all is quiet
	broken  error         // why the store takes no more; nil
	halted  bool          // a write will never return; broken is set
	stuck   chan struct{} // closed when full or halted; made anew when full ends
}

func newDisk(fs vfs.FS, dir string) *disk {
	return &disk{FS: fs, dir: dir, patience: closeTime, stuck: make(chan struct{})}
}

// state returns what keeps the store from writing, nil for nothing.
func (d *disk) state() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.stateLocked()
}

func (d *disk) stateLocked() error {
	switch {
	case d.broken != nil:
		return d.broken
	case d.full:
		return ErrDiskFull
	}
	return nil
}

// do runs an operation that writes. When it gets stuck do returns without it; the
// operation ends when there is room, and none begins before that has.
func (d *disk) do(op func() error) error {
	d.mu.Lock()
	if err := d.stateLocked(); err != nil {
		d.mu.Unlock()
		return err
	}
	d.pending++
	stuck := d.stuck
	d.mu.Unlock()
	done := make(chan error, 1)
	go func() {
		err := op()
		d.leave(&d.pending)
		done <- err
	}()
	select {
	case err := <-done:
		return diskError(err)
	case <-stuck:
	}
	select {
	case err := <-done:
		return diskError(err)
	default:
	}
	if err := d.state(); err != nil {
		return err
	}
	return ErrDiskFull // there is room again, but the operation is still under way
}

// enter counts an operation that is not to be refused.
func (d *disk) enter() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.pending++
}

// leave counts down what keeps a full disk full.
func (d *disk) leave(n *int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	*n--
	if d.full && d.pending == 0 && d.waiting == 0 {
		d.full = false
		if !d.halted {
			d.stuck = make(chan struct{})
		}
	}
}

// hold notes a write that waits for room.
func (d *disk) hold() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waiting++
	if !d.full {
		d.full = true
		closeOnce(d.stuck)
	}
}

// fail notes why the store takes no more; the first reason counts. What is under way
// goes on.
func (d *disk) fail(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.broken == nil {
		d.broken = err
	}
}

// park keeps a database from going on after it failed. Its goroutine ends with the
// process.
func (d *disk) park(err error) {
	d.fail(fmt.Errorf("%w: %w", ErrBroken, err))
	d.mu.Lock()
	d.halted = true
	closeOnce(d.stuck)
	d.mu.Unlock()
	select {}
}

// persist tries until there is room.
func (d *disk) persist(try func() error) error {
	err := try()
	if !isFull(err) {
		return err
	}
	d.hold()
	defer d.leave(&d.waiting)
	for isFull(err) {
		time.Sleep(roomEvery)
		err = try()
	}
	return err
}

// room returns ErrDiskFull when a write of so many bytes would take of the reserve.
func (d *disk) room(bytes int, blocks bool) error {
	u, err := d.FS.GetDiskUsage(d.dir)
	if err != nil {
		return nil //nolint:nilerr // not known here: the write itself will tell
	}
	reserve := min(reserveBytes, u.TotalBytes/reserveShare)
	if !blocks {
		reserve /= stateShare
	}
	if u.AvailBytes < reserve+uint64(bytes) {
		return fmt.Errorf("%w: %d MiB are free", ErrDiskFull, u.AvailBytes>>20)
	}
	return nil
}

// isFull says that the disk, or what its user may have of it, is full.
func isFull(err error) bool {
	return err != nil && (vfs.IsNoSpaceError(err) || errors.Is(err, syscall.EDQUOT))
}

// diskError makes an error of pebble's one of ours, where there is one for it.
func diskError(err error) error {
	switch {
	case isFull(err):
		return fmt.Errorf("%w: %w", ErrDiskFull, err)
	case err != nil && (pebble.IsCorruptionError(err) || strings.Contains(err.Error(), "checksum mismatch")): // of values it says no more
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return err
}

// Create implements vfs.FS.
func (d *disk) Create(name string, c vfs.DiskWriteCategory) (f vfs.File, err error) {
	err = d.persist(func() error { f, err = d.FS.Create(name, c); return err })
	return d.file(f, d.needed(err))
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
