package main

import (
	"os"
	"path/filepath"
	"testing"
)

// Results are equal only if all files are there, and hold the same.
func TestSameFiles(t *testing.T) {
	write := func(files map[string]string) string {
		dir := t.TempDir()
		for name, text := range files {
			path := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	was := map[string]string{"a": "1", "d/b": "2"}
	for name, tt := range map[string]struct {
		is   map[string]string
		same bool
	}{
		"equal":   {map[string]string{"a": "1", "d/b": "2"}, true},
		"differs": {map[string]string{"a": "1", "d/b": "3"}, false},
		"missing": {map[string]string{"a": "1"}, false},
		"more":    {map[string]string{"a": "1", "d/b": "2", "c": ""}, false},
	} {
		if err := sameFiles(write(was), write(tt.is)); (err == nil) != tt.same {
			t.Errorf("%s: %v", name, err)
		}
	}
	if sameFiles(t.TempDir(), t.TempDir()) == nil {
		t.Error("nothing is equal to nothing")
	}
	if sameFiles(filepath.Join(t.TempDir(), "none"), t.TempDir()) == nil {
		t.Error("there is no directory")
	}
}
