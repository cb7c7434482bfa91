package owner

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestUnchanged: a file is read again unless its directory says for certain that it is as it was.
func TestUnchanged(t *testing.T) {
	name := filepath.Join(t.TempDir(), "rules.yaml")
	now := time.Now()
	old := now.Add(-time.Hour)
	put := func(text string, at time.Time) fs.FileInfo {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(name, at, at); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		return info
	}
	first := put("one", old)
	if !unchanged(first, put("one", old), now) {
		t.Error("a file that nobody touched is read again")
	}
	if unchanged(nil, first, now) || unchanged(first, nil, now) || unchanged(nil, nil, now) {
		t.Error("a file that was not there, or is not, is not read")
	}
	if unchanged(first, put("more", old), now) || unchanged(first, put("two", old.Add(time.Nanosecond)), now) {
		t.Error("another size or time is not read")
	}
	// Written twice within what a file system tells of time.
	if young := put("one", now); unchanged(young, put("two", now), now.Add(time.Second)) {
		t.Error("a file that was just written is taken for what it was")
	}
	before := put("one", old)
	if err := os.Rename(name, name+".kept"); err != nil { // whose number stays in use
		t.Fatal(err)
	}
	if unchanged(before, put("two", old), now) {
		t.Error("another file in its place is not read")
	}
}
