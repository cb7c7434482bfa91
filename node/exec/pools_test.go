package exec

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"godwit/internal/noop"
	"godwit/overlay"
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
	if len(os.Args) == 3 && os.Args[1] == childVerb {
		if err := countStart(os.Args[2]); err != nil {
			os.Exit(1)
		}
		os.Exit(sandbox.Main(os.Stdin, os.Stdout))
	}
	os.Exit(m.Run())
}

// countStart adds a byte to a file.
func countStart(file string) error {
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write([]byte{1})
	return errors.Join(err, f.Close())
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
	r := NewSandboxed(sandbox.Config{Command: []string{self, childVerb}, CacheDir: cache, HostBytes: room}, false)
	r.Obey(keepPriority)
	return r, cache
}

// keepPriority returns rules that keep sandbox processes from starving on a busy machine.
func keepPriority() owner.Rules { return owner.Rules{NoPriorityChange: true} }

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

// Jobs of different submitters, overlays or keys share a module but no sandbox process.
func TestTenantsShareNoProcess(t *testing.T) {
	path, starts := filepath.Join(t.TempDir(), "module"), filepath.Join(t.TempDir(), "starts")
	if err := os.WriteFile(path, noop.Module, 0o600); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r := NewSandboxed(sandbox.Config{Command: []string{self, childVerb, starts}, HostBytes: 1 << 40}, false)
	r.Obey(keepPriority)
	t.Cleanup(func() { r.Close() })
	module := task.RawCID(noop.Module)
	job := func(submitter task.PeerID, of overlay.ID, sealed string) *Job {
		return &Job{spec: &task.Job{Module: module, Memory: 64 << 20, Sealed: []byte(sealed)}, overlay: of,
			submitter: submitter, module: map[task.CID]string{module: path}}
	}
	for i, test := range []struct {
		job  *Job
		want int // processes started so far
	}{
		{job("alice", "one", "k"), 1},
		{job("alice", "one", "k"), 1},
		{job("mallory", "one", "k"), 2},
		{job("alice", "two", "k"), 3},
		{job("alice", "one", ""), 4},
		{job("mallory", "one", "k"), 4},
	} {
		if rep, err := r.Run(t.Context(), Run{Job: test.job}); err != nil || rep.Outcome != task.Completed {
			t.Fatalf("run %d: %v %s %v", i, rep.Outcome, rep.Message, err)
		}
		b, err := os.ReadFile(starts)
		if err != nil || len(b) != test.want {
			t.Errorf("run %d: %d processes were started, want %d (%v)", i, len(b), test.want, err)
		}
	}
}

// A job that is made ready keeps who submitted it, and in which overlay.
func TestJobKeepsItsTenant(t *testing.T) {
	h := newFakeHost()
	h.by = "alice"
	x := h.executor(t, &Sleeper{})
	id := h.submitted(t, x, "module: sleep.wasm\n", task.RawCID(noop.Module))
	job, err := x.jobs.bring(t.Context(), "pool", message.Prepare{Job: id})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := job.tenant(), (sandbox.Tenant{Submitter: "alice", Overlay: "pool"}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
