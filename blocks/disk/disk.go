package disk

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
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
		return ErrFull
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
	return ErrFull // there is room again, but the operation is still under way
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
	first := d.broken == nil
	if first {
		d.broken = err
	}
	d.mu.Unlock()
	if first && errors.Is(err, ErrCorrupt) {
		d.mark(err)
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

// room returns ErrFull when a write of so many bytes would take of the reserve.
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
		return fmt.Errorf("%w: %d MiB are free", ErrFull, u.AvailBytes>>20)
	}
	return nil
}

// corrupt takes pebble's word that a file is not what was written.
func (d *disk) corrupt(info pebble.DataCorruptionInfo) {
	d.fail(fmt.Errorf("%w: %s: %w", ErrCorrupt, info.Path, info.Details))
}

func closeOnce(c chan struct{}) {
	select {
	case <-c:
	default:
		close(c)
	}
}
