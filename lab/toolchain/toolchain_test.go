package toolchain

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"godwit/task"
)

// Every language has a program to begin with, which is found to be of it, and whose job file is right. What is there is
// not written over.
func TestNew(t *testing.T) {
	for _, name := range Names() {
		dir := filepath.Join(t.TempDir(), "mine-1")
		written, err := New(name, dir)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		l, err := Find(dir)
		if err != nil || l.Name != name {
			t.Errorf("the program in %s is taken for %q, %v", name, l.Name, err)
		}
		text, err := os.ReadFile(filepath.Join(dir, "job.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		f, err := task.ParseFile("job.yaml", text)
		if err != nil || f.Name != "mine-1" || f.Sweep.Count() != 10 {
			t.Errorf("%s: the job file is %+v, %v", name, f, err)
		}
		for _, path := range written {
			b, err := os.ReadFile(path)
			if err != nil || strings.Contains(string(b), placeholder) {
				t.Errorf("%s: %s has %q, %v", name, path, b, err)
			}
			if n := strings.Count(string(b), "\n"); n > 20 {
				t.Errorf("%s: %s has %d lines", name, path, n)
			}
		}
		if info, err := os.Stat(filepath.Join(dir, "test")); err != nil || info.Mode()&0o100 == 0 {
			t.Errorf("%s: the test does not run: %v", name, err)
		}
		if err := os.Remove(written[0]); err != nil {
			t.Fatal(err)
		}
		if _, err := New(name, dir); err == nil {
			t.Errorf("%s: a program was written over", name)
		}
		if _, err := os.Stat(written[0]); err == nil {
			t.Errorf("%s: half a program was written", name)
		}
	}
}

// A directory without a program, and names that are none, are refused.
func TestRefusals(t *testing.T) {
	dir := t.TempDir()
	for _, at := range []string{dir, filepath.Join(dir, "none")} {
		if _, err := Find(at); err == nil {
			t.Errorf("a program was found in %s", at)
		}
	}
	for _, base := range []string{"1st", "a b", "ä", "a.b", strings.Repeat("x", 65)} {
		if _, err := New("go", dir+"/"+base); err == nil {
			t.Errorf("a program is called %q", base)
		}
	}
	if _, err := New("cobol", filepath.Join(dir, "a")); err == nil {
		t.Error("a program in COBOL was begun")
	}
}
