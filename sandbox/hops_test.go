package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"godwit/task"
)

// traveller gives one of the guests that package freeze is tested with, or of
// testdata/large.
func traveller(t testing.TB, source string) []byte {
	t.Helper()
	build, _ := travellers.LoadOrStore(source, sync.OnceValues(func() ([]byte, error) { return buildTraveller(source) }))
	b, err := build.(func() ([]byte, error))()
	if errors.Is(err, exec.ErrNotFound) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

var travellers sync.Map // source to what builds it, once

func buildTraveller(source string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "godwit-guest")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	out, path := filepath.Join(dir, "guest.wasm"), filepath.Join("freeze", "testdata", "guests", source)
	if _, err := os.Stat(path); err != nil {
		path = filepath.Join("testdata", "large", source)
	}
	cmd := exec.Command("clang", "-O2", "--target=wasm32-wasi", "-o", out, path)
	if source == "go" {
		cmd = exec.Command("go", "build", "-ldflags=-s -w", "-o", out, "main.go")
		cmd.Dir = path
		cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOFLAGS=")
	}
	if msg, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("building %s: %w: %s", source, err, msg)
	}
	return os.ReadFile(out)
}

// hop runs a task that freezes each time it has used so much fuel, in a new
// process each time, to its end.
func hop(t *testing.T, tk Task, every uint64) (last Report, hops int) {
	t.Helper()
	pages := &MemoryStore{}
	for {
		p := newTestPool(t, func(c *Config) { c.MaxIdle = -1 })
		tk.Pages, tk.FreezeAtFuel = pages, uint64(hops+1)*every
		rep := run(t, p, tk)
		if rep.Outcome != task.Interrupted {
			return rep, hops
		}
		hops++
		tk.From = rep.Frozen
		t.Logf("hop %d at fuel %d: %+v, restored in %v", hops, rep.Fuel, rep.Checkpoints, rep.Restore)
	}
}

func same(t *testing.T, got, want Report) {
	t.Helper()
	if got.Outcome != want.Outcome || got.ExitCode != want.ExitCode || got.Fuel != want.Fuel ||
		got.StateHash != want.StateHash {
		t.Errorf("got %v %d, fuel %d, state %x (%s), want %v %d, fuel %d, state %x", got.Outcome, got.ExitCode, got.Fuel,
			got.StateHash[:4],
			got.Message, want.Outcome, want.ExitCode, want.Fuel, want.StateHash[:4])
	}
	if len(got.Outputs) != len(want.Outputs) {
		t.Fatalf("%d outputs, want %d", len(got.Outputs), len(want.Outputs))
	}
	for i, f := range got.Outputs {
		if f.Name != want.Outputs[i].Name || string(f.Data) != string(want.Outputs[i].Data) {
			t.Errorf("output %s is not that of the undisturbed run", f.Name)
		}
	}
}

// TestHops: wherever and however often a task is frozen, and taken to another
// process, it ends as it would have.
func TestHops(t *testing.T) {
	for _, c := range []struct {
		source string
		args   []string
	}{
		{"mixed.c", []string{"2000", "3"}},
		{"nqueens.c", []string{"8"}},
		{"go", []string{"mixed", "300"}},
	} {
		t.Run(c.source, func(t *testing.T) {
			tk := moduleTask(t, traveller(t, c.source), "job/"+c.source)
			tk.Args, tk.Outputs, tk.StateHash = c.args, []string{"stdout", "stderr", "*"}, true
			tk.Files = []Input{{Name: "in/put", Data: []byte("text")}}
			want := run(t, newTestPool(t), tk)
			if want.Outcome != task.Completed || want.Fuel == 0 || want.StateHash == [32]byte{} {
				t.Fatalf("undisturbed: %v %s, fuel %d, state %x", want.Outcome, want.Message, want.Fuel, want.StateHash)
			}
			got, hops := hop(t, tk, want.Fuel/7)
			if hops < 5 {
				t.Errorf("%d hops of a program of %d fuel", hops, want.Fuel)
			}
			same(t, got, want)
			tk.ThawEvery = want.Fuel / 50
			same(t, run(t, newTestPool(t), tk), want)
		})
	}
}
