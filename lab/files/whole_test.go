package files

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestWriteNewStaysInside(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := WriteNew(root, "a/b.txt", []byte("x")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"../escaped", "a/../../escaped"} {
		if err := WriteNew(root, name, []byte("x")); err == nil {
			t.Errorf("%s was written", name)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "..", "escaped")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file was written outside: %v", err)
	}
}

// TestWriteNewLeavesWhatIsThere: neither a file with other content is written over, nor
// what a link leads to, nor a directory; the same content again is fine.
func TestWriteNewLeavesWhatIsThere(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for name, content := range map[string]string{"file": "mine", "aim": "mine", "part-0.tmp": "mine"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	err = errors.Join(os.Symlink("aim", filepath.Join(dir, "link")), os.Mkdir(filepath.Join(dir, "dir"), 0o700))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"file", "link", "dir", "part-0.tmp"} {
		if err := WriteNew(root, name, []byte("thrs")); !errors.Is(err, ErrThere) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for range 2 {
		if err := WriteNew(root, "new", []byte("mine")); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"file", "aim", "part-0.tmp", "new"} {
		if b, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(b) != "mine" {
			t.Errorf("%s has %q, %v", name, b, err)
		}
	}
	if left, err := filepath.Glob(filepath.Join(dir, "part-*")); err != nil || len(left) != 1 {
		t.Errorf("left %v, %v", left, err)
	}
}
