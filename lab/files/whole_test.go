package files

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestWriteWholeStaysInside(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := WriteWhole(root, "a/b.txt", []byte("x")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"../escaped", "a/../../escaped"} {
		if err := WriteWhole(root, name, []byte("x")); err == nil {
			t.Errorf("%s was written", name)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "..", "escaped")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file was written outside: %v", err)
	}
}
