package disk_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"godwit/blocks"
	"godwit/blocks/disk"
	"godwit/task"

	"github.com/cockroachdb/pebble/v2/vfs"
	ds "github.com/ipfs/go-datastore"
	"github.com/ipfs/go-datastore/query"
)

// A relic is a store on disk, closed, and what is in it.
type relic struct {
	dir   string
	root  task.CID
	file  []byte
	state string
}

func bury(t *testing.T) relic {
	t.Helper()
	r := relic{dir: filepath.Join(t.TempDir(), "store"), state: strings.Repeat("godwit ", 1000), file: make([]byte, 5<<20)}
	rand.NewChaCha8([32]byte{8}).Read(r.file)
	s, err := disk.Open(r.dir)
	if err != nil {
		t.Fatal(err)
	}
	b, err := blocks.New(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if r.root, _, err = b.Import(t.Context(), bytes.NewReader(r.file)); err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		if _, err := b.ImportBytes(t.Context(), r.file[i*9000:i*9000+30000]); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(
		s.Put(t.Context(), ds.NewKey("/s/1"), []byte(r.state)), b.Sync(t.Context()), s.(*disk.Store).FlushLog(),
		s.Put(t.Context(), ds.NewKey("/s/2"), []byte(r.state)), b.Sync(t.Context()), s.(io.Closer).Close()); err != nil {
		t.Fatal(err)
	}
	return r
}

// read opens a store and reads all that is in it. It reports an error, or what is
// missing; what it reads that is not what was written is a failure.
func (r relic) read(t *testing.T) (missing int, err error) {
	t.Helper()
	ctx := context.Background()
	s, err := disk.OpenOn(r.dir, unsynced{vfs.Default})
	if err != nil {
		return 0, err
	}
	s.SetPatience(100 * time.Millisecond)
	defer func() {
		err = errors.Join(err, s.Close())
	}()
	b, err := blocks.New(ctx, s)
	if err != nil {
		return 0, err
	}
	for _, k := range []string{"/s/1", "/s/2"} {
		v, err := s.Get(ctx, ds.NewKey(k))
		switch {
		case errors.Is(err, ds.ErrNotFound):
			missing++
		case err != nil:
			return missing, err
		case string(v) != r.state:
			t.Errorf("%s reads %q", k, v)
		}
	}
	res, err := s.Query(ctx, query.Query{Prefix: "/"})
	if err != nil {
		return missing, err
	}
	defer res.Close()
	for e := range res.Next() {
		if e.Error != nil {
			return missing, e.Error
		}
	}
	f, _, err := b.Open(ctx, r.root, blocks.AtMost(1<<40))
	if errors.Is(err, blocks.ErrNotFound) {
		return missing + 1, nil
	} else if err != nil {
		return missing, err
	}
	defer f.Close()
	got, err := io.ReadAll(f)
	if errors.Is(err, blocks.ErrNotFound) {
		return missing + 1, nil // its root was in the log
	}
	if err == nil && !bytes.Equal(got, r.file) {
		t.Error("the file reads other bytes")
	}
	return missing, err
}

// Whatever happens to a file of the store, it is found out: the store does not
// open, or reading says that it is corrupt, or nothing is wrong with what is read;
// and what is damaged can be moved aside. The log's tail alone may be lost silently:
// a crash leaves it so.
func TestDamagedStore(t *testing.T) {
	if raceEnabled {
		t.Skip("too slow under the race detector: run without it")
	}
	damage := map[string]func([]byte) []byte{
		"empty":     func([]byte) []byte { return nil },
		"cut":       func(b []byte) []byte { return b[:len(b)/2] },
		"flipped":   func(b []byte) []byte { b[len(b)/2] ^= 0x10; return b },
		"flipped 1": func(b []byte) []byte { b[min(9, len(b)-1)] ^= 0x01; return b },
		"nonsense":  func(b []byte) []byte { rand.NewChaCha8([32]byte{9}).Read(b); return b },
		"gone":      nil,
	}
	pristine := bury(t)
	if missing, err := pristine.read(t); missing != 0 || err != nil {
		t.Fatalf("undamaged: %d missing, %v", missing, err)
	}
	counts := map[string]int{}
	for how, change := range damage {
		for _, name := range filesOf(t, pristine.dir) {
			if strings.HasSuffix(name, ".copy") {
				continue // it is read where its original is damaged: see TestRecoverAfterDamageToOneFile
			}
			r := pristine
			r.dir = filepath.Join(t.TempDir(), "store")
			if err := os.CopyFS(r.dir, os.DirFS(pristine.dir)); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(r.dir, name)
			if err := spoil(path, change); err != nil {
				t.Fatal(err)
			}
			missing, err := r.read(t)
			base := filepath.Base(name)
			isLog := strings.HasSuffix(base, ".log") || strings.HasPrefix(base, "marker")
			switch {
			case errors.Is(err, disk.ErrCorrupt):
				counts["found"]++
			case err != nil:
				t.Errorf("%s %s: %v, which is not ErrCorrupt", how, name, err)
			case missing > 0 && !isLog:
				t.Errorf("%s %s: %d things are missing, and nobody said so", how, name, missing)
			case missing > 0:
				counts["missing"]++
			default:
				counts["harmless"]++
			}
			err0 := err
			to, err := disk.MoveAside(r.dir)
			if err != nil || to != r.dir+".corrupt-1" {
				t.Fatalf("moved aside to %q: %v", to, err)
			}
			s, err := disk.OpenOn(r.dir, unsynced{vfs.Default})
			if err != nil && errors.Is(err0, disk.ErrCorrupt) && strings.Contains(err.Error(), "lock held") {
				counts["locked"]++ // pebble did not close, and holds it until the process ends
				continue
			}
			if err != nil {
				t.Fatalf("%s %s: a new one: %v", how, name, err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	t.Log(counts)
	if counts["found"] < 10 {
		t.Errorf("only %d damages were found", counts["found"])
	}
}

func spoil(path string, change func([]byte) []byte) error {
	if change == nil {
		return os.Remove(path)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if len(b) > 0 {
		b = change(b)
	}
	return os.WriteFile(path, b, 0o600)
}

func filesOf(t testing.TB, dir string) (names []string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(dir), ".", func(p string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && e.Name() != "LOCK" {
			names = append(names, p)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestMoveAside(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	if _, err := disk.MoveAside(dir); err == nil {
		t.Error("nothing was moved")
	}
	for _, want := range []string{".corrupt-1", ".corrupt-2"} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if to, err := disk.MoveAside(dir); err != nil || to != dir+want {
			t.Errorf("moved to %q, %v; want %s", to, err, want)
		}
	}
}

// A store that is in use is not taken for a damaged one.
func TestStoreInUse(t *testing.T) {
	dir := t.TempDir()
	s, err := disk.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.(io.Closer).Close()
	if _, err := disk.Open(dir); err == nil || errors.Is(err, disk.ErrCorrupt) || errors.Is(err, disk.ErrFull) {
		t.Errorf("opened twice: %v", err)
	}
}
