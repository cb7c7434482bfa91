package sandbox

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"godwit/sandbox/freeze"
	"godwit/task"
)

// unfreezable is a program with an export of a name that the pass needs.
func unfreezable(t *testing.T) []byte {
	t.Helper()
	start := cat(text(startFunction), []byte{0, 0})
	b := bytes.Replace(noop.bytes(), section(7, 1, start), section(7, 2, start, text("__ck_mine"), []byte{0, 0}), 1)
	if err := CheckModule(b); err != nil || !errors.Is(CheckFreezable(b), freeze.ErrRefused) {
		t.Fatalf("check: %v; freezable: %v", err, CheckFreezable(b))
	}
	return b
}

// keptIn is what a store has that bears its mark.
func keptIn(s *entries, path string) []byte {
	o, err := s.open(path)
	if err != nil {
		return nil
	}
	b, err := io.ReadAll(o)
	if !o.check() || err != nil {
		return nil
	}
	return b
}

func keepIn(t *testing.T, s *entries, path string, parts [][]byte) {
	t.Helper()
	m, err := s.create(path, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range parts {
		if err := m.write(b); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.keep(); err != nil {
		t.Fatal(err)
	}
}

// What was found out about a module is not found out again, whether it can be
// frozen or not, until the file that says so is damaged. That validation was left
// out is seen by a module that does not validate, offered in the other's name.
func TestVerdictsAreKept(t *testing.T) {
	for name, wasm := range map[string][]byte{"freezable": noop.bytes(), "not freezable": unfreezable(t)} {
		t.Run(name, func(t *testing.T) {
			dir, sum := t.TempDir(), sha256.Sum256(wasm)
			store, err := openEntries(dir)
			if err != nil {
				t.Fatal(err)
			}
			path := store.path(sum, "test", verdictPart)
			look := func(wasm []byte) error {
				e := newEngine(false)
				v, err := e.instrument(context.Background(), wasm, loading{verdict: keptIn(store, path)})
				if v != nil {
					keepIn(t, store, path, v.parts())
				}
				return errors.Join(err, e.refused)
			}
			first := look(wasm)
			bad := guest{code: drop1}.bytes()
			if got := look(bad); errors.Is(got, freeze.ErrRefused) != errors.Is(first, freeze.ErrRefused) ||
				(got == nil) != (first == nil) {
				t.Errorf("first %v, then %v", first, got)
			} else if got != nil && got.Error() != first.Error() {
				t.Errorf("the reason was %q, now it is %q", first, got)
			}

			files, err := filepath.Glob(filepath.Join(dir, "*-*"))
			if err != nil || len(files) != 1 {
				t.Fatalf("files %v, %v", files, err)
			}
			whole, err := os.ReadFile(files[0])
			if err != nil {
				t.Fatal(err)
			}
			flipped := bytes.Clone(whole)
			flipped[len(flipped)/2] ^= 1
			for _, damaged := range [][]byte{nil, whole[:10], whole[:len(whole)-1], flipped} {
				if err := os.WriteFile(files[0], damaged, 0o600); err != nil {
					t.Fatal(err)
				}
				var e *ModuleError
				if err := look(bad); !errors.As(err, &e) || e.Kind != Malformed {
					t.Errorf("%d of %d bytes: got %v, want that it does not validate", len(damaged), len(whole), err)
				}
			}
			look(wasm)
			if again, err := os.ReadFile(files[0]); err != nil || len(again) != len(whole) {
				t.Errorf("a damaged file was not written anew: %d of %d bytes, %v", len(again), len(whole), err)
			}
		})
	}
}

// A child validates what nobody has before it.
func TestChildValidates(t *testing.T) {
	p := newTestPool(t)
	bad := guest{code: drop1}.bytes()
	if err := CheckSections(bad); err != nil {
		t.Fatalf("sections: %v", err)
	}
	for range 2 {
		if rep := run(t, p, moduleTask(t, bad, "bad")); rep.Outcome != task.InvalidModule ||
			!bytes.HasPrefix([]byte(rep.Message), []byte("does not validate")) {
			t.Errorf("got %v: %q", rep.Outcome, rep.Message)
		}
	}
	wasm := unfreezable(t)
	for range 2 {
		rep := run(t, p, moduleTask(t, wasm, "unfreezable"))
		if rep.Outcome != task.InvalidModule {
			t.Errorf("got %v: %q", rep.Outcome, rep.Message)
		}
		free := moduleTask(t, wasm, "unfreezable")
		free.Checkpoint.Off = true
		if rep := run(t, p, free); rep.Outcome != task.Completed {
			t.Errorf("without checkpoints: got %v: %q", rep.Outcome, rep.Message)
		}
	}
}
