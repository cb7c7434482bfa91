package exec

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"godwit/internal/noop"
	"godwit/owner"
	"godwit/sandbox"
	"godwit/scheduler/message"
	"godwit/task"
)

// childVerb makes the test binary a sandbox process.
const childVerb = "sandbox-child"

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == childVerb {
		os.Exit(sandbox.Main(os.Stdin, os.Stdout))
	}
	os.Exit(m.Run())
}

// newSandboxed returns a Runner of this binary, which keeps what it compiles in a directory.
func newSandboxed(t *testing.T) (*Sandboxed, string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	const room = 1 << 40 // a binary with the race detector takes much
	cache := t.TempDir()
	return NewSandboxed(sandbox.Config{Command: []string{self, childVerb}, CacheDir: cache, HostBytes: room}, false), cache
}

// compiled reports whether machine code was made of any program.
func compiled(t *testing.T, cache string) bool {
	t.Helper()
	code, err := filepath.Glob(filepath.Join(cache, "*-2"))
	if err != nil {
		t.Fatal(err)
	}
	return len(code) > 0
}

// A program that is to be interpreted is not compiled, and does the same as one that is.
func TestAuditInSandbox(t *testing.T) {
	h := newFakeHost()
	r, cache := newSandboxed(t)
	x := h.executor(t, r)
	module, err := h.blocks.ImportBytes(t.Context(), noop.Module)
	if err != nil {
		t.Fatal(err)
	}
	id := task.TaskID{Job: h.submitted(t, x, "module: sleep.wasm\n", module)}
	h.on(func() { x.Lend(owner.Decision{Cores: 1}) })
	var digests []task.Digest
	for _, interpreted := range []bool{true, false} {
		done := make(chan task.Result, 1)
		h.on(func() {
			x.Audit(h, message.Audit{Task: id, Interpreted: interpreted}, nil,
				func(ev message.Audited) { done <- ev.Here })
		})
		res := <-done
		if res.Outcome != task.Completed || res.Verify() != nil {
			t.Fatalf("interpreted %v: %+v", interpreted, res)
		}
		if compiled(t, cache) == interpreted || r.pools.interpreted == nil {
			t.Errorf("interpreted %v: machine code is there: %v", interpreted, compiled(t, cache))
		}
		digests = append(digests, res.Digest())
	}
	if digests[0] != digests[1] {
		t.Error("the two do not agree")
	}
}

// Sandboxes that interpret obey as the others do: those begun in a standstill stand still, and
// none begins once all are closed.
func TestInterpretersObey(t *testing.T) {
	path := filepath.Join(t.TempDir(), "module")
	if err := os.WriteFile(path, noop.Module, 0o600); err != nil {
		t.Fatal(err)
	}
	r, _ := newSandboxed(t)
	module := task.RawCID(noop.Module)
	job := &Job{spec: &task.Job{Module: module}, module: map[task.CID]string{module: path}}
	job.spec.Memory = 64 << 20
	run := func(ctx context.Context) error {
		rep, err := r.Run(ctx, Run{Job: job, Interpreted: true})
		if err == nil && rep.Outcome != task.Completed {
			err = errors.New(rep.Outcome.String() + " " + rep.Message)
		}
		return err
	}
	r.Pause()
	const patience = 300 * time.Millisecond // it takes some 20 ms while nothing stands still
	ctx, end := context.WithTimeout(t.Context(), patience)
	defer end()
	if err := run(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("in a standstill: %v", err)
	}
	r.Resume()
	if err := r.Cap(1, 0, 2); err != nil || r.pools.share != .5 {
		t.Errorf("two on one core: a share of %v, %v", r.pools.share, err)
	}
	if err := run(t.Context()); err != nil {
		t.Errorf("after it: %v", err)
	}
	if n := r.Excess()["no such task"]; n != 0 {
		t.Errorf("a task that does not run holds %d bytes", n)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if err := run(t.Context()); !errors.Is(err, sandbox.ErrClosed) {
		t.Errorf("once all are closed: %v", err)
	}
	none, _ := newSandboxed(t)
	if err := none.Close(); err != nil {
		t.Error(err)
	}
	r = none
	if err := run(t.Context()); !errors.Is(err, sandbox.ErrClosed) {
		t.Errorf("closed before the first: %v", err)
	}
}
