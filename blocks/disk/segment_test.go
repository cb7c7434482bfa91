package disk_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"godwit/blocks/disk"

	"github.com/cockroachdb/pebble/v2/vfs"
	ds "github.com/ipfs/go-datastore"
	"github.com/ipfs/go-datastore/query"
)

// valueOf is the only value that a key may have, as a block's is.
func valueOf(k ds.Key, bytes int) []byte {
	v := make([]byte, bytes)
	rand.NewChaCha8(sha256.Sum256([]byte(k.String()))).Read(v)
	return v
}

// valueBytes is how large the values of these tests are: some 20 of them go to bulk.
const valueBytes = 100 << 10

func keyOf(n int) ds.Key { return ds.NewKey(fmt.Sprintf("/blocks/data/%d", n)) }

func putAll(t *testing.T, s *disk.Store, from, to int) {
	t.Helper()
	b, err := s.Batch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for n := from; n < to; n++ {
		if err := b.Put(t.Context(), keyOf(n), valueOf(keyOf(n), valueBytes)); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func openPlain(t *testing.T, dir string) *disk.Store {
	t.Helper()
	s, err := disk.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return s.(*disk.Store)
}

// segmentBytesOf adds up the segments of a store.
func segmentBytesOf(t *testing.T, dir string) (sum int64) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(dir, "segments"), func(_ string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			var info fs.FileInfo
			info, err = e.Info()
			sum += info.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// What is deleted gives its room back: a segment of which little is garbage stays as it is, one
// of which much is goes, and what is needed of it is in another; what has no value left goes.
// All that is needed reads as before, then and when it is opened again.
func TestSegmentsGiveBack(t *testing.T) {
	for _, c := range []struct{ keep, of, files int }{{9, 10, 10}, {1, 4, 1}, {0, 1, 0}} {
		t.Run(fmt.Sprintf("%d of %d", c.keep, c.of), func(t *testing.T) {
			dir, ctx := t.TempDir(), t.Context()
			s := openPlain(t, dir)
			const n = 40
			putAll(t, s, 0, n)
			kept := func(i int) bool { return i%c.of < c.keep }
			for i := range n {
				if !kept(i) {
					if err := s.Delete(ctx, keyOf(i)); err != nil {
						t.Fatal(err)
					}
				}
			}
			if err := s.Compact(ctx, disk.BulkPrefix+"data/"); err != nil {
				t.Fatal(err)
			}
			want := int64(n * valueBytes * c.files / max(c.of, c.files, 1))
			if got := segmentBytesOf(t, dir); got != want {
				t.Errorf("%d bytes in segments, want %d", got, want)
			}
			for round := range 2 {
				for i := range n {
					v, err := s.Get(ctx, keyOf(i))
					if kept(i) && !bytes.Equal(v, valueOf(keyOf(i), valueBytes)) || !kept(i) && err != ds.ErrNotFound {
						t.Fatalf("round %d: %d reads %d bytes, %v", round, i, len(v), err)
					}
				}
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				s = openPlain(t, dir)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// Whoever reads while values are moved and deleted reads what was stored, or that it is gone.
func TestSegmentsReadWhileMoved(t *testing.T) {
	s, ctx := openPlain(t, t.TempDir()), t.Context()
	const n, rounds = 60, 4
	putAll(t, s, 0, n)
	var readers sync.WaitGroup
	stop := make(chan struct{})
	for r := range 2 {
		readers.Go(func() {
			for i := r; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				k := keyOf(i % n)
				v, err := s.Get(ctx, k)
				if err == nil && !bytes.Equal(v, valueOf(k, valueBytes)) || err != nil && err != ds.ErrNotFound {
					t.Errorf("%s reads %d bytes, %v", k, len(v), err)
					return
				}
			}
		})
	}
	for round := range rounds {
		for i := round; i < n/2; i += rounds {
			if err := s.Delete(ctx, keyOf(i)); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Compact(ctx, disk.BulkPrefix); err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	readers.Wait()
	for i := n / 2; i < n; i++ {
		if _, err := s.Get(ctx, keyOf(i)); err != nil {
			t.Errorf("%d: %v", i, err)
		}
	}
	if err := errors.Join(disk.Check(s), s.Close()); err != nil {
		t.Fatal(err)
	}
}

// Whenever the machine stops, what is found has its value, and all is found that was synced and
// not deleted. Of what was written and not synced a part may be on disk, in any order.
func TestSegmentsCrash(t *testing.T) {
	if raceEnabled {
		t.Skip("too slow under the race detector: run without it")
	}
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 1))
			mem := vfs.NewCrashableMem()
			root, err := mem.OpenDir("")
			if err := errors.Join(err, mem.MkdirAll("store", 0o700), root.Sync()); err != nil {
				t.Fatal(err)
			}
			s, err := disk.OpenOn("store", mem)
			if err != nil {
				t.Fatal(err)
			}
			synced, deleted, next := 0, map[int]bool{}, 0
			for step := range 24 {
				switch act := rng.IntN(6); {
				case act <= 2 || next == 0:
					putAll(t, s, next, next+21+rng.IntN(9))
					next += 21
				case act == 3:
					err, synced = s.Sync(t.Context(), ds.NewKey("/blocks")), next
				case act == 4:
					from := rng.IntN(next)
					for i := from; i < min(from+20, next); i++ {
						deleted[i] = true
						err = errors.Join(err, s.Delete(t.Context(), keyOf(i)))
					}
				default:
					err = s.Compact(t.Context(), disk.BulkPrefix)
				}
				if err != nil {
					t.Fatal(err)
				}
				after := mem.CrashClone(vfs.CrashCloneCfg{
					UnsyncedDataPercent: []int{0, 50}[step%2], RNG: rand.New(rand.NewPCG(seed, uint64(step)))})
				if step%3 == 2 {
					lookAfterCrash(t, after, synced, deleted)
				}
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func lookAfterCrash(t *testing.T, mem vfs.FS, synced int, deleted map[int]bool) {
	t.Helper()
	s, err := disk.OpenOn("store", mem)
	if err != nil {
		t.Fatalf("after a crash: %v", err)
	}
	found := map[string]bool{}
	res, err := s.Query(t.Context(), query.Query{Prefix: "/blocks"})
	if err != nil {
		t.Fatal(err)
	}
	for e := range res.Next() {
		if e.Error != nil || !bytes.Equal(e.Value, valueOf(ds.RawKey(e.Key), valueBytes)) {
			t.Fatalf("after a crash %s has %d bytes, %v", e.Key, len(e.Value), e.Error)
		}
		found[e.Key] = true
	}
	for i := range synced {
		if !deleted[i] && !found[keyOf(i).String()] {
			t.Errorf("after a crash %d is not there, which was synced", i)
		}
	}
	if err := errors.Join(res.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
}

// What was being written when the process ended goes when the store is opened; other files
// stay, and so do segments that are referred to.
func TestSegmentsOfNobody(t *testing.T) {
	dir := t.TempDir()
	s := openPlain(t, dir)
	putAll(t, s, 0, 30)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"7.seg", "07.seg", "x.seg", "99999999999999999999.seg"} {
		if err := os.WriteFile(filepath.Join(dir, "segments", name), []byte("half a value"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s = openPlain(t, dir)
	defer s.Close()
	names := filesOf(t, filepath.Join(dir, "segments"))
	if got, want := strings.Join(names, " "), "0.seg 07.seg 99999999999999999999.seg x.seg"; got != want {
		t.Errorf("segments: %s, want %s", got, want)
	}
	putAll(t, s, 30, 60)
	if v, err := s.Get(t.Context(), keyOf(31)); !bytes.Equal(v, valueOf(keyOf(31), valueBytes)) {
		t.Errorf("stored after it: %d bytes, %v", len(v), err)
	}
}

// A place that says more than the segment has takes no memory, and is damage. A value that looks
// like a place is none.
func TestPlaceThatLies(t *testing.T) {
	s := openPlain(t, t.TempDir())
	defer s.Close()
	putAll(t, s, 0, 30)
	text := disk.EncodePlace(0, 0, valueBytes, 0)
	small := ds.NewKey("/blocks/data/small")
	if err := s.Put(t.Context(), small, text); err != nil {
		t.Fatal(err)
	}
	if v, err := s.Get(t.Context(), small); !bytes.Equal(v, text) {
		t.Errorf("a value like a place reads %q, %v", v, err)
	}
	for name, lie := range map[string][]byte{
		"beyond": disk.EncodePlace(0, 0, 1<<59, 0), "nowhere": disk.EncodePlace(9, 0, 5, 0),
		"other sum": disk.EncodePlace(0, 0, valueBytes, 1), "cut": text[:5], "nothing": {},
	} {
		if err := s.PutPlace(keyOf(1), lie); err != nil {
			t.Fatal(err)
		}
		if v, err := s.Get(t.Context(), keyOf(1)); !errors.Is(err, disk.ErrCorrupt) {
			t.Errorf("%s: %d bytes, %v", name, len(v), err)
		}
		if err := disk.Check(s); !errors.Is(err, disk.ErrCorrupt) {
			t.Errorf("%s: the store is said to be well: %v", name, err)
		}
	}
}

// FuzzPlace holds that what is read as a place is written as it was, or shorter.
func FuzzPlace(f *testing.F) {
	f.Add(disk.EncodePlace(0, 0, 0, 0))
	f.Add(disk.EncodePlace(300, 1<<26, 2<<20, 1<<31))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 0, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		segment, at, n, sum, ok := disk.DecodePlace(b)
		if !ok {
			return
		}
		if again := disk.EncodePlace(segment, at, n, sum); len(again) > len(b) || at+n < at {
			t.Errorf("%x is read as %d %d %d, written as %x", b, segment, at, n, again)
		}
	})
}
