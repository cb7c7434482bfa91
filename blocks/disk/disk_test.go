package disk_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"godwit/blocks"
	"godwit/blocks/disk"

	"github.com/cockroachdb/pebble/v2/vfs"
	ds "github.com/ipfs/go-datastore"
)

// A tightDisk has no room, or fails to sync, when told so. A write takes half of
// what it is given first, as they do.
type tightDisk struct {
	vfs.FS
	full, failing atomic.Bool
}

func (d *tightDisk) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if d.full.Load() {
		return nil, fmt.Errorf("creating: %w", syscall.ENOSPC)
	}
	f, err := d.FS.Create(name, c)
	return &tightFile{f, d}, err
}

func (d *tightDisk) ReuseForWrite(from, to string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := d.FS.ReuseForWrite(from, to, c)
	return &tightFile{f, d}, err
}

type tightFile struct {
	vfs.File
	disk *tightDisk
}

func (f *tightFile) Write(b []byte) (int, error) {
	if f.disk.full.Load() {
		n, err := f.File.Write(b[:len(b)/2])
		return n, errors.Join(err, syscall.ENOSPC)
	}
	return f.File.Write(b)
}

func (f *tightFile) Sync() error {
	if f.disk.failing.Load() {
		return syscall.EIO
	}
	return f.File.Sync()
}

func (f *tightFile) SyncData() error { return f.Sync() }

func (f *tightFile) SyncTo(int64) (bool, error) { return true, f.Sync() }

func openTight(t *testing.T, dir string) (*tightDisk, *disk.Store, *blocks.Store) {
	t.Helper()
	d := &tightDisk{FS: vfs.Default}
	s, err := disk.OpenOn(dir, d)
	if err != nil {
		t.Fatal(err)
	}
	b, err := blocks.New(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return d, s, b
}

// until waits until the store is well, or not.
func until(t *testing.T, s *disk.Store, want error) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for range 3000 {
		if err := disk.Check(s); err == want || want != nil && errors.Is(err, want) {
			return
		}
		<-tick.C
	}
	t.Fatalf("Check: %v, want %v", disk.Check(s), want)
}

// Whatever writes on a full disk says so, and nothing that was synced is lost.
// When there is room the store goes on by itself, with the newest values.
func TestDiskFull(t *testing.T) {
	ctx := t.Context()
	state, other := ds.NewKey("/s/state"), ds.NewKey("/s/other")
	large := make([]byte, 9<<20)
	rand.NewChaCha8([32]byte{5}).Read(large)
	record := []byte("kept as a root")
	for name, write := range map[string]func(s *disk.Store, b *blocks.Store) error{
		"log": func(s *disk.Store, _ *blocks.Store) error {
			return errors.Join(s.Put(ctx, other, []byte("lost or not")), s.Sync(ctx, state))
		},
		"bulk": func(_ *disk.Store, b *blocks.Store) error {
			_, err := b.ImportBytes(ctx, large)
			return errors.Join(err, b.Sync(ctx))
		},
		"flush":   func(s *disk.Store, _ *blocks.Store) error { return s.FlushLog() },
		"compact": func(s *disk.Store, _ *blocks.Store) error { return s.Compact(ctx, "/s/", disk.BulkPrefix) },
		"delete": func(s *disk.Store, b *blocks.Store) error {
			kept, err := b.PutRecord(ctx, record) // is here already
			_, collected := b.Collect(ctx, blocks.RootsOf(kept), -time.Hour)
			return errors.Join(err, collected, s.Sync(ctx, state))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			d, s, b := openTight(t, dir)
			root, err := b.ImportBytes(ctx, large[:3<<20])
			if err := errors.Join(err, s.Put(ctx, state, []byte("old")), b.Sync(ctx)); err != nil {
				t.Fatal(err)
			}
			if name == "delete" {
				root, err = b.PutRecord(ctx, record)
				if err := errors.Join(err, b.Sync(ctx)); err != nil {
					t.Fatal(err)
				}
			}
			d.full.Store(true)
			if err := write(s, b); !errors.Is(err, disk.ErrFull) {
				t.Errorf("the write that finds no room: %v", err)
			}
			until(t, s, disk.ErrFull)
			for i, err := range []error{s.Put(ctx, state, nil), s.Delete(ctx, state), s.Sync(ctx, state), b.Sync(ctx)} {
				if !errors.Is(err, disk.ErrFull) {
					t.Errorf("write %d after it: %v", i, err)
				}
			}
			if v, err := s.Get(ctx, state); string(v) != "old" || err != nil {
				t.Errorf("read %q, %v", v, err)
			}
			if all, err := b.HasAll(ctx, root); !all || err != nil {
				t.Errorf("what was synced is here: %v, %v", all, err)
			}
			d.full.Store(false)
			until(t, s, nil)
			if err := errors.Join(s.Put(ctx, state, []byte("new")), s.Sync(ctx, state), s.Close()); err != nil {
				t.Fatal(err)
			}
			_, s, b = openTight(t, dir)
			if v, err := s.Get(ctx, state); string(v) != "new" || err != nil {
				t.Errorf("opened again: %q, %v", v, err)
			}
			if all, err := b.HasAll(ctx, root); !all || err != nil {
				t.Errorf("opened again, what was synced is here: %v, %v", all, err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// A full disk does not keep a node from ending; and what was waiting ends well when
// there is room.
func TestCloseOnFullDisk(t *testing.T) {
	ctx := t.Context()
	d, s, b := openTight(t, t.TempDir())
	s.SetPatience(10 * time.Millisecond)
	if _, err := b.ImportBytes(ctx, make([]byte, 20<<10)); err != nil {
		t.Fatal(err)
	}
	d.full.Store(true)
	if err := s.Close(); !errors.Is(err, disk.ErrFull) {
		t.Errorf("closed: %v", err)
	}
	d.full.Store(false)
	until(t, s, nil)
}

// A disk that fails to sync leaves a store that can be read and says what happened
// to whoever writes; the process goes on.
func TestBrokenDisk(t *testing.T) {
	ctx := t.Context()
	d, s, b := openTight(t, t.TempDir())
	root, err := b.ImportBytes(ctx, []byte("kept"))
	if err := errors.Join(err, b.Sync(ctx)); err != nil {
		t.Fatal(err)
	}
	d.failing.Store(true)
	if _, err := b.ImportBytes(ctx, []byte("unsure")); err != nil {
		t.Fatal(err)
	}
	for i, err := range []error{b.Sync(ctx), s.Put(ctx, ds.NewKey("/x"), nil), disk.Check(s), s.Close()} {
		if !errors.Is(err, disk.ErrBroken) || !errors.Is(err, syscall.EIO) {
			t.Errorf("call %d: %v", i, err)
		}
	}
	if v, err := b.Get(ctx, root); string(v) != "kept" || err != nil {
		t.Errorf("read %q, %v", v, err)
	}
}

// A store on a real disk of 64 MiB is filled until it refuses, collected, and filled
// again.
func TestSmallDisk(t *testing.T) {
	dir := smallDisk(t, 64<<20)
	ctx := t.Context()
	s, err := disk.Open(dir + "/store")
	if err != nil {
		t.Fatal(err)
	}
	b, err := blocks.New(ctx, s)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.NewChaCha8([32]byte{6})
	fill := func() (stored int, err error) {
		for stored < 1000 {
			data := make([]byte, []int{100 << 10, 5 << 20}[stored%2])
			rng.Read(data)
			_, _, err = b.Import(ctx, bytes.NewReader(data))
			if err == nil {
				err = b.Sync(ctx)
			}
			if err != nil {
				return stored, err
			}
			stored++
		}
		return stored, nil
	}
	for round := range 2 {
		n, err := fill()
		if !errors.Is(err, disk.ErrFull) || n < 4 {
			t.Fatalf("round %d: %d files were stored, then %v", round, n, err)
		}
		if round == 0 {
			got, err := b.Collect(ctx, blocks.RootsOf(), -time.Hour)
			if err != nil {
				t.Fatalf("collecting on a full disk: %v", err)
			}
			t.Logf("%d files stored, then %d MiB collected", n, got.Bytes>>20)
			until(t, s.(*disk.Store), nil) // files are removed in the background
		}
	}
	if err := s.(io.Closer).Close(); err != nil {
		t.Error(err)
	}
	if _, err := disk.Open("/proc/none"); err == nil || errors.Is(err, disk.ErrCorrupt) {
		t.Errorf("a directory that cannot be made: %v", err)
	}
}
