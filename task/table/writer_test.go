package table

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"godwit/task"
)

// failing is a writer that takes so many bytes.
type failing struct{ left int }

var errFull = errors.New("full")

func (f *failing) Write(b []byte) (int, error) {
	if f.left -= len(b); f.left < 0 {
		return 0, errFull
	}
	return len(b), nil
}

// A disk that is full is told with the row that did not go in, or at the end.
func TestWriterTellsOfAFullDisk(t *testing.T) {
	w := NewWriter(&failing{left: task.TablePage}, []string{""})
	row := strings.Repeat("x", task.MaxCell-1)
	var err error
	n := 0
	for ; err == nil && n < 100; n++ {
		err = w.Add(row)
	}
	if !errors.Is(err, errFull) || n != 7 { // three in a page: the seventh begins the third
		t.Errorf("row %d: %v", n, err)
	}
	w = NewWriter(&failing{}, []string{""})
	if err := w.Add("x"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Close(); !errors.Is(err, errFull) {
		t.Errorf("at the end: %v", err)
	}
}

// Every page but the last has the same length, so that a page's place follows from its number.
func TestPagesAreEqual(t *testing.T) {
	var file bytes.Buffer
	w := NewWriter(&file, []string{"a", "b"})
	for i := range 100 {
		if err := w.Add(fmt.Sprint(i), strings.Repeat("y", 10_000)); err != nil {
			t.Fatal(err)
		}
	}
	made, err := w.Close()
	if err != nil {
		t.Fatal(err)
	}
	if full := len(made.Pages) * task.TablePage; file.Len() <= full || file.Len() > full+task.TablePage {
		t.Errorf("%d pages have %d bytes", len(made.Pages)+1, file.Len())
	}
	if c := made.Columns; c[0].Longest != 2 || c[1].Longest != 10_000 || made.Rows != 100 {
		t.Errorf("the table is %+v", made)
	}
}

// Rows are read of files that lie at paths; a file that is not there, or ends too early, is an error.
func TestFiles(t *testing.T) {
	made, file := write(t, []string{""}, [][]string{{"one"}, {"two"}})
	path := filepath.Join(t.TempDir(), "table")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	rows := Files(func(task.CID) string { return path })
	for i, want := range []string{"one", "two", "one"} {
		if got, err := rows(made, uint64(i%2)); err != nil || got[0] != want {
			t.Errorf("row %d is %v, %v", i%2, got, err)
		}
	}
	if _, err := Files(func(task.CID) string { return path + "x" })(made, 0); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	if err := os.WriteFile(path, file[:3], 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := Files(func(task.CID) string { return path })(made, 1); !errors.Is(err, task.ErrTable) {
		t.Errorf("a file that ends too early: %v, %v", got, err)
	}
	if _, err := PageOf(bytes.NewReader(file), 1); !errors.Is(err, io.EOF) {
		t.Errorf("a page behind the last: %v", err)
	}
}
