package sandbox

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"godwit/task"
)

// childVerb makes the test binary a sandbox child.
const childVerb = "sandbox-child"

// blindVerb makes it one that nobody tells which pages were written.
const blindVerb = "sandbox-blind"

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == childVerb {
		os.Exit(Main(os.Stdin, os.Stdout))
	}
	if len(os.Args) == 2 && os.Args[1] == blindVerb {
		blind()
		os.Exit(Main(os.Stdin, os.Stdout))
	}
	if len(os.Args) == 2 && os.Args[1] == middleVerb {
		middle()
	}
	if len(os.Args) == 2 && os.Args[1] == holeVerb {
		hole()
	}
	os.Exit(m.Run())
}

func newTestPool(t testing.TB, change ...func(*Config)) *Pool {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cfg := Config{Command: []string{self, childVerb}, CacheDir: filepath.Join(os.TempDir(), "godwit-sandbox-test-cache"),
		KeepPriority: func() bool { return true }} // on a busy machine the lowest priority would get next to nothing
	if raceEnabled {
		cfg.HostBytes = 1 << 40
	}
	for _, f := range change {
		f(&cfg)
	}
	p := NewPool(cfg)
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// file writes a module to disk and returns a task that runs it.
func (g guest) task(t testing.TB, name string) Task { return moduleTask(t, g.bytes(), name) }

func moduleTask(t testing.TB, wasm []byte, name string) Task {
	t.Helper()
	path := filepath.Join(t.TempDir(), "m.wasm")
	if err := os.WriteFile(path, wasm, 0o600); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(wasm)
	return Task{Name: name, Module: hex.EncodeToString(sum[:]), ModulePath: path, Outputs: []string{"stdout"}}
}

func run(t testing.TB, p *Pool, tk Task) Report {
	t.Helper()
	rep, err := p.Run(t.Context(), tk)
	if err != nil {
		t.Fatalf("Run(%s) = %v", tk.Name, err)
	}
	return rep
}

func TestOutcomes(t *testing.T) {
	p := newTestPool(t)
	small := Limits{Memory: 8 << 20, Output: 1 << 16, Files: 1 << 20, FileCount: 100}
	cases := []struct {
		name    string
		guest   guest
		wall    time.Duration
		outcome task.Outcome
		code    uint32
	}{
		{"nothing", noop, 0, task.Completed, 0},
		{"exit 0", exit(0), 0, task.Completed, 0},
		{"exit 3", exit(3), 0, task.ExitFailure, 3},
		{"trap", traps, 0, task.Trapped, 0},
		{"recursion", deep, 0, task.Trapped, 0},
		{"memory for ever", hog, 0, task.OutOfMemory, 0},
		{"memory at the start", guest{pages: 129}, 0, task.OutOfMemory, 0},
		{"maximum beyond the limit", guest{pages: 1, maximum: 65536}, 0, task.Completed, 0},
		{"printing for ever", printer, 0, task.OverQuota, 0},
		{"running for ever", forever, 200 * time.Millisecond, task.TimedOut, 0},
		{"huge table", guest{table: 1 << 26}, 0, task.InvalidModule, 0},
		{"library", guest{library: true}, 0, task.InvalidModule, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			tk := c.guest.task(t, c.name)
			tk.Limits = small
			tk.Limits.Wall = c.wall
			rep := run(t, p, tk)
			if rep.Outcome != c.outcome || rep.ExitCode != c.code {
				t.Errorf("got %v, code %d (%s), want %v, code %d", rep.Outcome, rep.ExitCode, rep.Message, c.outcome, c.code)
			}
			if (rep.Message == "") != (rep.Outcome == task.Completed) {
				t.Errorf("%v with message %q", rep.Outcome, rep.Message)
			}
			t.Log(rep.Message)
			if again := run(t, p, noop.task(t, "after")); again.Outcome != task.Completed {
				t.Errorf("the next task got %v: %s", again.Outcome, again.Message)
			}
		})
	}
}

func TestSameNameSameBytes(t *testing.T) {
	a, b := newTestPool(t), newTestPool(t)
	first := run(t, a, dice.task(t, "job/1"))
	if len(first.Outputs) != 1 || len(first.Outputs[0].Data) != 24 {
		t.Fatalf("outputs %v, want 24 bytes of stdout", first.Outputs)
	}
	for i, p := range []*Pool{a, b} { // a warm stream, another process
		if got := run(t, p, dice.task(t, "job/1")); !bytes.Equal(got.Outputs[0].Data, first.Outputs[0].Data) {
			t.Errorf("pool %d: %x, want %x", i, got.Outputs[0].Data, first.Outputs[0].Data)
		}
	}
	other := run(t, a, dice.task(t, "job/2"))
	if bytes.Equal(other.Outputs[0].Data[:16], first.Outputs[0].Data[:16]) {
		t.Error("another name drew the same random bytes")
	}
}

func TestCancelKills(t *testing.T) {
	p := newTestPool(t)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	rep, err := p.Run(ctx, forever.task(t, "x"))
	if !errors.Is(err, context.DeadlineExceeded) || rep.Outcome != task.Interrupted {
		t.Errorf("got %v, %v, want interrupted, deadline exceeded", rep.Outcome, err)
	}
}

func TestCloseEndsRuns(t *testing.T) {
	p := newTestPool(t)
	done := make(chan error)
	go func() {
		_, err := p.Run(context.Background(), forever.task(t, "x"))
		done <- err
	}()
	onlyChild(t, p)
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; !errors.Is(err, ErrClosed) {
		t.Errorf("got %v, want ErrClosed", err)
	}
	if _, err := p.Run(t.Context(), noop.task(t, "y")); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: got %v, want ErrClosed", err)
	}
}

func BenchmarkWarmTask(b *testing.B) {
	p := newTestPool(b)
	tk := noop.task(b, "job/0")
	run(b, p, tk)
	for b.Loop() {
		run(b, p, tk)
	}
}

func BenchmarkWarmTaskParallel(b *testing.B) {
	p := newTestPool(b)
	tk := noop.task(b, "job/0")
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			run(b, p, tk)
		}
	})
}

// BenchmarkColdTask starts a process for every task; its code is in the cache.
func BenchmarkColdTask(b *testing.B) {
	p := newTestPool(b, func(c *Config) { c.MaxIdle = -1 })
	tk := noop.task(b, "job/0")
	for b.Loop() {
		run(b, p, tk)
	}
}
