package disk_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"godwit/blocks/disk"

	"github.com/cockroachdb/pebble/v2/vfs"
	ds "github.com/ipfs/go-datastore"
)

// A history is a store on disk, closed, whose pairs were written, overwritten and deleted over
// several flushes and two logs, and the values that each key had, the newest last, nil for deleted.
type history struct {
	dir    string
	values map[string][][]byte
}

const historyKeys = 60

func writeHistory(t testing.TB) history {
	t.Helper()
	h := history{filepath.Join(t.TempDir(), "store"), map[string][][]byte{}}
	rng := rand.New(rand.NewPCG(4, 1))
	const rounds = 6
	for round := range rounds {
		s, err := disk.OpenOn(h.dir, unsynced{vfs.Default})
		if err != nil {
			t.Fatal(err)
		}
		ctx := context.Background()
		for i := range historyKeys {
			if rng.IntN(3) == 0 {
				continue
			}
			key := fmt.Sprintf("/state/%d/key%03d", i%3, i)
			if len(h.values[key]) > 0 && rng.IntN(4) == 0 {
				h.values[key] = append(h.values[key], nil)
				err = s.Delete(ctx, ds.RawKey(key))
			} else {
				v := []byte(strings.Repeat(fmt.Sprintf("%s in round %d. ", key, round), 1+rng.IntN(90)))
				h.values[key] = append(h.values[key], v)
				err = s.Put(ctx, ds.RawKey(key), v)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if round%2 == 0 {
			err = s.FlushLog()
		}
		crashed := h.dir + "-crashed" // closing moves the pairs of logs to tables
		if round == rounds-1 {
			err = errors.Join(err, s.Sync(ctx, ds.NewKey("/")), copyOpen(crashed, h.dir))
		}
		if err = errors.Join(err, s.Close()); err != nil {
			t.Fatal(err)
		}
		if round == rounds-1 {
			h.dir = crashed
		}
	}
	return h
}

// copyOpen copies the directory of an open store. The store may delete obsolete files in the background, so a copy that
// misses one is made again.
func copyOpen(to, from string) error {
	for {
		err := os.CopyFS(to, os.DirFS(from))
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := os.RemoveAll(to); err != nil {
			return err
		}
	}
}

// outcome counts what became of the keys of a history.
type outcome struct{ newest, older, lost, returned int }

// check opens a store and compares each key with its history. A value that never was is a failure.
func (h history) check(t testing.TB) (o outcome) {
	t.Helper()
	s, err := disk.OpenOn(h.dir, unsynced{vfs.Default})
	if err != nil {
		t.Fatalf("the store does not open: %v", err)
	}
	defer s.Close()
	for key, values := range h.values {
		got, err := s.Get(context.Background(), ds.RawKey(key))
		newest := values[len(values)-1]
		switch {
		case errors.Is(err, ds.ErrNotFound) && newest == nil, err == nil && bytes.Equal(got, newest) && newest != nil:
			o.newest++
		case errors.Is(err, ds.ErrNotFound):
			o.lost++
		case err != nil:
			t.Fatalf("%s: %v", key, err)
		default:
			for _, v := range values {
				if v != nil && bytes.Equal(got, v) {
					o.older++
					got = nil
					break
				}
			}
			if got != nil {
				t.Fatalf("%s reads %q, which was never written", key, got)
			}
			if newest == nil {
				o.returned++
			}
		}
	}
	return o
}

// recover makes a store that opens, and returns what was read of the damaged one.
func (h history) recover(t testing.TB) disk.Recovery {
	t.Helper()
	s, err := disk.OpenOn(h.dir, unsynced{vfs.Default})
	if err == nil {
		o := 0
		for key := range h.values { // finds damage inside tables
			if _, e := s.Get(context.Background(), ds.RawKey(key)); e != nil && !errors.Is(e, ds.ErrNotFound) {
				o++
			}
		}
		if err := s.Close(); err != nil && o == 0 {
			t.Fatal(err)
		}
		if o == 0 {
			return disk.Recovery{}
		}
	} else if !errors.Is(err, disk.ErrCorrupt) {
		t.Fatal(err)
	}
	got, err := disk.Recover(h.dir, disk.Salvage{First: func(key string) bool { return strings.HasPrefix(key, "/state/1/") }})
	if err != nil {
		t.Fatalf("it is not recovered: %v", err)
	}
	return got
}

func (h history) copied(t testing.TB) history {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "store")
	if err := os.CopyFS(dir, os.DirFS(h.dir)); err != nil {
		t.Fatal(err)
	}
	return history{dir, h.values}
}

// Whatever happens to one file of a store, all pairs in other files are read as they were written
// last, and nothing is read that was never written. Files without pairs cost nothing.
func TestRecoverAfterDamageToOneFile(t *testing.T) {
	pristine := writeHistory(t)
	if o := pristine.copied(t).check(t); o.newest != len(pristine.values) { // opening moves pairs of logs to tables
		t.Fatalf("undamaged: %+v", o)
	}
	kinds := map[string]bool{}
	for how, change := range map[string]func([]byte) []byte{
		"empty":   func([]byte) []byte { return nil },
		"cut":     func(b []byte) []byte { return b[:len(b)/2] },
		"flipped": func(b []byte) []byte { b[len(b)/2] ^= 0x10; return b },
		"no end":  func(b []byte) []byte { return b[:len(b)-min(len(b), 20)] },
		"gone":    nil,
	} {
		for _, name := range filesOf(t, pristine.dir) {
			h := pristine.copied(t)
			if err := spoil(filepath.Join(h.dir, name), change); err != nil {
				t.Fatal(err)
			}
			got := h.recover(t)
			o := h.check(t)
			data := strings.HasSuffix(name, ".sst") || strings.HasSuffix(name, ".blob") || strings.HasSuffix(name, ".log")
			if !data && o.newest != len(h.values) {
				t.Errorf("%s %s: %+v of %d, %+v", how, name, o, len(h.values), got)
			}
			if strings.HasSuffix(name, ".sst") {
				kinds["table"] = true
				if o.lost+o.older == len(h.values) {
					t.Errorf("%s %s: nothing is left, %+v", how, name, got)
				}
			}
			if how == "no end" && strings.HasSuffix(name, ".sst") && (o.newest != len(h.values) || got.Lost == 0) {
				t.Errorf("%s %s: the blocks at the table's beginning are not read: %+v, %+v", how, name, o, got)
			}
			if how == "flipped" && strings.HasPrefix(name, "log") && o.lost+o.older > len(h.values)/10 {
				t.Errorf("%s %s: one byte costs %+v of %d, %+v", how, name, o, len(h.values), got)
			}
			t.Logf("%-8s %-45s %+v lost %d, aside %t", how, name, o, got.Lost, got.Aside != "")
		}
	}
	if !kinds["table"] {
		t.Error("the store has no table")
	}
}

// Without any manifest the newest values are still found, because pairs bear sequence numbers.
func TestRecoverWithoutManifests(t *testing.T) {
	h := writeHistory(t)
	for _, name := range filesOf(t, h.dir) {
		if strings.HasPrefix(filepath.Base(name), "MANIFEST-") {
			if err := os.Truncate(filepath.Join(h.dir, name), 0); err != nil {
				t.Fatal(err)
			}
		}
	}
	got := h.recover(t)
	o := h.check(t)
	t.Logf("%+v: %+v", o, got)
	if o.older+o.returned > 0 || o.newest < len(h.values)/2 {
		t.Errorf("%+v of %d", o, len(h.values))
	}
	if got.First == 0 || got.Aside == "" {
		t.Errorf("%+v", got)
	}
}

// A Recover that was interrupted is completed by the next, and loses nothing.
func TestRecoverInterrupted(t *testing.T) {
	h := writeHistory(t)
	whole := h.copied(t)
	log := filepath.Join(h.dir, "log")
	if err := os.CopyFS(log+".fresh", os.DirFS(log)); err != nil { // while it is written
		t.Fatal(err)
	}
	if o := h.check(t); o.newest != len(h.values) {
		t.Errorf("before it is complete: %+v", o)
	}
	if _, err := os.Stat(log + ".fresh"); err == nil {
		t.Error("what was not complete is still there")
	}
	log = filepath.Join(whole.dir, "log") // after the damaged one is moved, before the new one is
	if err := errors.Join(os.WriteFile(filepath.Join(log, "whole"), nil, 0o600), os.Rename(log, log+".fresh")); err != nil {
		t.Fatal(err)
	}
	if o := whole.check(t); o.newest != len(h.values) {
		t.Errorf("after: %+v", o)
	}
}

// Two processes do not recover a store, or recover one that is open.
func TestRecoverInUse(t *testing.T) {
	h := writeHistory(t)
	s, err := disk.OpenOn(h.dir, unsynced{vfs.Default})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := disk.Recover(h.dir, disk.Salvage{}); err == nil || errors.Is(err, disk.ErrCorrupt) {
		t.Errorf("an open store: %v", err)
	}
}

// Whatever bytes of whatever file are changed, nothing is read that was never written, and the store
// opens again.
func FuzzRecover(f *testing.F) {
	pristine := writeHistory(f)
	names := filesOf(f, pristine.dir)
	for i := range names {
		f.Add(uint8(i), uint32(100), []byte{1}, false)
		f.Add(uint8(i), uint32(4000), []byte{0xff, 0, 3}, true)
	}
	f.Fuzz(func(t *testing.T, file uint8, at uint32, flips []byte, cut bool) {
		h := pristine.copied(t)
		path := filepath.Join(h.dir, names[int(file)%len(names)])
		b, err := os.ReadFile(path)
		if err != nil || len(b) == 0 {
			return
		}
		for i, x := range flips[:min(len(flips), 64)] {
			b[(int(at)+i)%len(b)] ^= x
		}
		if cut {
			b = b[:int(at)%len(b)]
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		h.recover(t)
		h.check(t)
	})
}
