package budget

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// Whoever writes at once, together they stay within the budget, and what was released
// can be reserved again.
func TestReserve(t *testing.T) {
	const most, each, askers = 1000, 7, 50
	var d Disk
	d.SetMost(most)
	var got sync.Map
	var group sync.WaitGroup
	for i := range askers {
		group.Go(func() {
			n := 0
			for d.Reserve(Staged, each) == nil {
				n++
			}
			got.Store(i, n)
		})
	}
	group.Wait()
	total := 0
	got.Range(func(_, n any) bool { total += n.(int); return true })
	if total != most/each {
		t.Errorf("%d reservations of %d bytes in %d", total, each, most)
	}
	if used := d.Used(Staged); used != int64(total*each) {
		t.Errorf("%d bytes are counted of %d reservations", used, total)
	}
	d.Release(Staged, each)
	if err := d.Reserve(Staged, each); err != nil {
		t.Errorf("after a release: %v", err)
	}
}

// A refusal says what takes the space.
func TestFull(t *testing.T) {
	var d Disk
	if err := d.Reserve(Blocks, 1<<60); err != nil {
		t.Errorf("without a bound: %v", err)
	}
	d.Release(Blocks, 1<<60)
	d.SetMost(100 << 20)
	if err := d.Reserve(Staged, 60<<20); err != nil {
		t.Fatal(err)
	}
	err := d.Reserve(Blocks, 50<<20)
	if !errors.Is(err, ErrFull) {
		t.Fatalf("beyond the bound: %v", err)
	}
	for _, want := range []string{"50MiB more", "100MiB", "60MiB for files of ready jobs"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %q", want, err)
		}
	}
	if n := d.Lacking(30<<20, .9); n != 0 {
		t.Errorf("%d bytes lack for nine tenths", n)
	}
	if n := d.Lacking(31<<20, .9); n != 1<<20 {
		t.Errorf("%d bytes lack beyond nine tenths", n)
	}
}

// What was measured counts, and what is reserved of it is not counted twice.
func TestMeasured(t *testing.T) {
	var d Disk
	d.SetMost(1000)
	if err := d.Reserve(Blocks, 100); err != nil {
		t.Fatal(err)
	}
	d.Measured(350)
	if got := d.Used(Rest); got != 250 {
		t.Errorf("the rest is %d", got)
	}
	d.Measured(50) // not all is on the disk yet
	if got := d.Used(Rest); got != 0 {
		t.Errorf("the rest is %d", got)
	}
}

// Compiled modules make way, those first that were used longest ago, and no more of them
// than is needed.
func TestModulesMakeWay(t *testing.T) {
	dir := t.TempDir()
	now := time.Now()
	for i, name := range []string{"b", "a", "d", "c", "stays"} {
		path := filepath.Join(dir, "sub", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, make([]byte, 100), 0o600); err != nil {
			t.Fatal(err)
		}
		at := now.Add(time.Duration(i-10) * time.Hour)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	var d Disk
	d.Yield(&Dir{Path: dir, Stay: "stays"})
	d.SetMost(1000)
	d.Measured(400)
	if got := d.Used(Modules); got != 400 {
		t.Fatalf("%d bytes of modules", got)
	}
	if err := d.Reserve(Blocks, 750); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"b": false, "a": false, "d": true, "c": true, "stays": true} {
		if _, err := os.Stat(filepath.Join(dir, "sub", name)); (err == nil) != want {
			t.Errorf("%s: there %t, want %t", name, err == nil, want)
		}
	}
	if err := d.Reserve(Blocks, 251); !errors.Is(err, ErrFull) {
		t.Errorf("what can never fit: %v", err)
	}
	if got := d.Used(Modules); got != 200 {
		t.Errorf("%d bytes of modules are left by what can never fit", got)
	}
}
