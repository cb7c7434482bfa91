package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// Salvage says how a damaged store is read.
type Salvage struct {
	// First reports whether a key is recovered before all others: what exists nowhere else. nil for
	// no such key.
	First func(key string) bool
}

// Recovery describes what was read of a damaged store.
type Recovery struct {
	First int // pairs of Salvage.First
	State int // other pairs that are no blocks
	Bulk  int // blocks
	// Lost counts files that are missing or damaged, and single values beside those.
	Lost int
	// Partly is set if the disk had no space for all: the rest is in Aside only.
	Partly bool
	// Aside is the directory with the damaged files. It is "" if nothing was damaged.
	Aside string
}

const (
	freshSuffix = ".fresh" // of a database that is being made in place of a damaged one
	freshMark   = "whole"  // a file in it when it is complete
	batchBytes  = 1 << 20
)

// Recover makes a store in dir that opens again: each database that is damaged is replaced by a new
// one with all pairs that are readable, first those that Salvage names. The damaged files are moved
// to Recovery.Aside. Newer pairs replace older ones and deletions count, as far as they are readable:
// see docs/architecture.md. If it fails, or the process ends, the damaged store is as it was, and
// Recover may be called again. The error is ErrFull if there is no space on the disk. Nothing else
// may use the directory.
func Recover(dir string, how Salvage) (Recovery, error) {
	d := newDisk(vfs.Default, dir)
	lock, err := pebble.LockDirectory(dir, d.FS)
	if err != nil {
		return Recovery{}, fmt.Errorf("blocks: recovering the store in %s: %w", dir, openError(err))
	}
	defer lock.Close()
	r := &recovering{disk: d, how: how}
	err = d.do(func() error { return safely(r.all) })
	if err != nil {
		return r.done, fmt.Errorf("blocks: recovering the store in %s: %w", dir, err)
	}
	return r.done, nil
}

// A recovering is a call of Recover.
type recovering struct {
	disk *disk
	how  Salvage
	done Recovery
}

func (r *recovering) all() error {
	d := r.disk
	if err := settle(d, d.dir); err != nil {
		return err
	}
	segments, err := openSegments(d, filepath.Join(d.dir, segmentsName))
	if err != nil {
		return err
	}
	for _, db := range databases {
		if err := r.database(db, segments); err != nil {
			return err
		}
	}
	return errors.Join(segments.close(), d.unmark())
}

// databases are those of a store.
var databases = []struct {
	name     string
	memtable uint64
}{{"log", logMemtable}, {"bulk", bulkMemtable}}

// database replaces a database if it is damaged.
func (r *recovering) database(db struct {
	name     string
	memtable uint64
}, segments *segments) error {
	d, dir := r.disk, filepath.Join(r.disk.dir, db.name)
	if _, err := d.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := prepare(d, dir); err != nil && !errors.Is(err, ErrCorrupt) {
		return err
	}
	old, err := openRemains(d.FS, dir)
	if errors.Is(err, errNoDatabase) {
		return r.move(db.name, false)
	}
	if err != nil {
		return err
	}
	sound := func(p pair) bool { return segments.sound(p) }
	unsound := 0
	lost, err := old.each(func(p pair) error {
		if !sound(p) {
			unsound++
		}
		return nil
	})
	if err != nil {
		return err
	}
	if old.exact && !lost.any() && unsound == 0 && opens(dir, d, db.memtable) {
		return nil
	}
	r.done.Lost += lost.tables + lost.logs + lost.values + unsound
	if err := r.rebuild(old, dir+freshSuffix, db.memtable, sound); err != nil {
		return err
	}
	return r.move(db.name, true)
}

// opens reports whether a database opens.
func opens(dir string, d *disk, memtable uint64) bool {
	return safely(func() error {
		cache := pebble.NewCache(storeCache)
		defer cache.Unref()
		db, err := openPebble(dir, d, cache, memtable, true)
		if err != nil {
			return err
		}
		return db.Close()
	}) == nil
}

// rebuild makes a new database of all pairs that are readable and sound.
func (r *recovering) rebuild(old *remains, dir string, memtable uint64, sound func(pair) bool) error {
	cache := pebble.NewCache(storeCache)
	defer cache.Unref()
	fresh, err := openPebble(dir, r.disk, cache, memtable, false)
	if err != nil {
		return err
	}
	classes := []func(key string) bool{
		r.first,
		func(k string) bool { return !r.first(k) && !isBulk(k) },
		func(k string) bool { return !r.first(k) && isBulk(k) },
	}
	counts := []*int{&r.done.First, &r.done.State, &r.done.Bulk}
	w := &writing{disk: r.disk, db: fresh}
	for i, class := range classes {
		w.rest = i > 0
		_, err = old.each(func(p pair) error {
			if !class(string(p.key)) || !sound(p) {
				return nil
			}
			return w.add(p)
		})
		if errors.Is(err, errEnough) { // no space: what counts most is there
			r.done.Partly, err = true, nil
		}
		n, e := w.end(class)
		*counts[i] += n
		if err = errors.Join(err, e); err != nil {
			return errors.Join(err, fresh.Close())
		}
	}
	if err := errors.Join(fresh.pebble.Flush(), fresh.Close()); err != nil {
		return err
	}
	return replace(r.disk.FS, filepath.Join(dir, freshMark), nil)
}

func (r *recovering) first(key string) bool { return r.how.First != nil && r.how.First(key) }

// isBulk reports whether a key of a database is that of a block, or of its place.
func isBulk(key string) bool {
	if len(key) > 0 && key[:1] == placePrefix {
		key = key[1:]
	}
	return len(key) >= len(BulkPrefix) && key[:len(BulkPrefix)] == BulkPrefix
}

// move puts a damaged database aside and a new one in its place, if there is one.
func (r *recovering) move(name string, fresh bool) error {
	dir := r.disk.dir
	if r.done.Aside == "" {
		aside, err := asideOf(dir, func(to string) error { return os.Mkdir(to, 0o700) })
		if err != nil {
			return err
		}
		r.done.Aside = aside
	}
	from := filepath.Join(dir, name)
	if err := os.Rename(from, filepath.Join(r.done.Aside, name)); err != nil {
		return err
	}
	if !fresh {
		return nil
	}
	return os.Rename(from+freshSuffix, from)
}

// settle ends a Recover that was interrupted: a database that is complete takes the place of the
// damaged one if that was moved aside already. Any other is removed.
func settle(d *disk, dir string) error {
	for _, db := range databases {
		fresh, old := d.PathJoin(dir, db.name+freshSuffix), d.PathJoin(dir, db.name)
		if _, err := d.Stat(fresh); err != nil {
			continue
		}
		_, missing := d.Stat(old)
		_, partly := d.Stat(d.PathJoin(fresh, freshMark))
		if errors.Is(missing, fs.ErrNotExist) && partly == nil {
			if err := d.FS.Rename(fresh, old); err != nil {
				return err
			}
			continue
		}
		if err := d.FS.RemoveAll(fresh); err != nil {
			return err
		}
	}
	return nil
}
