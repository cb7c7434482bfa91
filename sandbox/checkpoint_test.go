package sandbox

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"godwit/sandbox/freeze"
	"godwit/task"
)

// TestKilledTaskGoesOn: a task whose process is lost without a word goes on
// from its last checkpoint, and comes to where it would have come if nothing
// had happened. Its program does not end by itself, so that the kill never
// comes too late.
func TestKilledTaskGoesOn(t *testing.T) {
	whole := moduleTask(t, traveller(t, "go"), "job/1")
	whole.Args, whole.Pages = []string{"mixed", "2000000000"}, &MemoryStore{}
	killed, fuel := whole, uint64(0)
	killed.Every = 10 * time.Millisecond
	for kills := range 2 {
		p := newTestPool(t)
		made := 0
		killed.OnCheckpoint = func(manifest []byte, used uint64, _ time.Duration) {
			if used < fuel || used == fuel && made > 0 { // the first may be made before the program goes on
				t.Errorf("checkpoint at fuel %d after one at %d", used, fuel)
			}
			killed.From, fuel = manifest, used
			if made++; made == 2 {
				_ = onlyChild(t, p).cmd.Process.Kill()
			}
		}
		if rep := run(t, p, killed); rep.Outcome != task.HostError {
			t.Fatalf("run %d was not killed: %v %s, %d checkpoints", kills, rep.Outcome, rep.Message, made)
		}
	}
	const further = 20_000_000 // of fuel
	whole.FreezeAtFuel = fuel + further
	killed.OnCheckpoint, killed.Every, killed.FreezeAtFuel = nil, 0, whole.FreezeAtFuel
	got, want := run(t, newTestPool(t), killed), run(t, newTestPool(t), whole)
	if want.Outcome != task.Interrupted || want.Fuel < fuel+further {
		t.Fatalf("without a kill: %v %s at fuel %d", want.Outcome, want.Message, want.Fuel)
	}
	same(t, got, want)
}

// frozenTask returns a task that goes on from a checkpoint in the middle.
func frozenTask(t *testing.T) Task {
	t.Helper()
	tk := moduleTask(t, traveller(t, "nqueens.c"), "job/1")
	tk.Args, tk.Pages, tk.FreezeAtFuel = []string{"8"}, &MemoryStore{}, 10_000
	rep := run(t, newTestPool(t), tk)
	if rep.Outcome != task.Interrupted || len(rep.Frozen) == 0 || rep.StateHash != sha256.Sum256(rep.Frozen) {
		t.Fatalf("not frozen: %v %s %s", rep.Outcome, rep.Message, rep.NotFrozen)
	}
	tk.From, tk.FreezeAtFuel = rep.Frozen, 0
	return tk
}

// reforge changes a manifest and makes its checksum right again.
func reforge(t *testing.T, b []byte, change func(*freeze.Manifest)) []byte {
	t.Helper()
	man, err := freeze.DecodeManifest(b)
	if err != nil {
		t.Fatal(err)
	}
	change(man)
	if b, err = man.Encode(); err != nil {
		t.Fatal(err)
	}
	return b
}

// TestBadCheckpointsAreRefused: whatever is wrong with a checkpoint, the task
// does not go on from it, its host learns why, and nothing else suffers.
func TestBadCheckpointsAreRefused(t *testing.T) {
	good := frozenTask(t)
	p := newTestPool(t)
	if rep := run(t, p, good); rep.Outcome != task.Completed {
		t.Fatalf("the good one: %v %s", rep.Outcome, rep.Message)
	}
	forge := func(change func(*freeze.Manifest)) func(*Task) {
		return func(tk *Task) { tk.From = reforge(t, tk.From, change) }
	}
	cases := map[string]struct {
		change func(*Task)
		reason string
	}{
		"empty of sense": {func(tk *Task) { tk.From = []byte("checkpoint") }, "not a checkpoint"},
		"cut short":      {func(tk *Task) { tk.From = tk.From[:len(tk.From)-1] }, "cut short"},
		"a bit flipped":  {func(tk *Task) { tk.From = slices.Clone(tk.From); tk.From[len(tk.From)/2] ^= 4 }, "checksum"},
		"another module": {func(tk *Task) { m := noop.task(t, "x"); tk.Module, tk.ModulePath = m.Module, m.ModulePath },
			"of module"},
		"another name":     {func(tk *Task) { tk.Name = "job/2" }, "another name"},
		"other arguments":  {func(tk *Task) { tk.Args = []string{"9"} }, "arguments"},
		"another input":    {func(tk *Task) { tk.Stdin = &Input{Data: []byte("x")} }, "inputs"},
		"another pass":     {forge(func(m *freeze.Manifest) { m.Pass++ }), "pass version"},
		"no frames":        {forge(func(m *freeze.Manifest) { m.State.Frames = nil }), "has ended"},
		"a frame too few":  {forge(func(m *freeze.Manifest) { m.State.Frames = m.State.Frames[8:] }), "frame"},
		"a global too few": {forge(func(m *freeze.Manifest) { m.State.Globals = m.State.Globals[1:] }), "globals"},
		"huge memory":      {forge(func(m *freeze.Manifest) { m.State.Pages = 1 << 16 }), "over the limit"},
		"system garbage":   {forge(func(m *freeze.Manifest) { m.System = bytes.Repeat([]byte{0x9f}, 99) }), "saved state"},
		"a missing block":  {func(tk *Task) { tk.Pages = &MemoryStore{} }, "block"},
		"a false block":    {func(tk *Task) { tk.Pages = liar{} }, "hash"},
	}
	for name, c := range cases {
		tk := good
		c.change(&tk)
		rep, err := p.Run(t.Context(), tk)
		if !errors.Is(err, ErrCheckpoint) || !strings.Contains(err.Error(), c.reason) {
			t.Errorf("%s: got %v %s, %v; want a refusal that says %q", name, rep.Outcome, rep.Message, err, c.reason)
		}
	}
	if rep := run(t, p, good); rep.Outcome != task.Completed {
		t.Errorf("the good one at the end: %v %s", rep.Outcome, rep.Message)
	}
	good.Pages = nil
	if _, err := p.Run(t.Context(), good); err == nil {
		t.Error("a checkpoint without a store for it: no error")
	}
}

// liar has every block, and they are all false.
type liar struct{}

func (liar) Has([sha256.Size]byte) bool          { return true }
func (liar) Put([sha256.Size]byte, []byte) error { return os.ErrInvalid }
func (liar) Get([sha256.Size]byte) ([]byte, error) {
	return freeze.Compress(make([]byte, pageSize)), nil
}

// TestSecondCheckpointIsSmall: of 64 MiB in which ten pages change, those ten
// are stored.
func TestSecondCheckpointIsSmall(t *testing.T) {
	tk := moduleTask(t, traveller(t, "large.c"), "job/1")
	tk.Args, tk.Limits.Memory = []string{"1000000000"}, 128<<20
	enough, made := make(chan struct{}), 0
	tk.Pages, tk.Every, tk.Freeze = &MemoryStore{}, 50*time.Millisecond, enough
	tk.OnCheckpoint = func([]byte, uint64, time.Duration) {
		if made++; made == 4 {
			close(enough)
		}
	}
	got := run(t, newTestPool(t), tk)
	t.Logf("%v, %q, %+v", got.Outcome, got.NotFrozen, got.Checkpoints)
	n := len(got.Checkpoints)
	if got.Outcome != task.Interrupted || n < 5 {
		t.Fatalf("%v %s after %d checkpoints", got.Outcome, got.Message, n)
	}
	// what is changed lies across two pages each
	if last := got.Checkpoints[n-1]; last.Bytes < 64<<20 || last.StoredBytes > 24*pageSize {
		t.Errorf("the last checkpoint of %d bytes stored %d, want at most 24 pages", last.Bytes, last.StoredBytes)
	}
}

// TestFreezeOnRequest: closing the channel freezes a task that would run for
// ever, and a task that ends first just ends.
func TestFreezeOnRequest(t *testing.T) {
	p := newTestPool(t)
	tk := forever.task(t, "a")
	now := make(chan struct{})
	tk.Pages, tk.Freeze = &MemoryStore{}, now
	tk.OnBegin = func() { close(now) }
	for range 3 {
		rep := run(t, p, tk)
		if rep.Outcome != task.Interrupted || len(rep.Frozen) == 0 || len(rep.Checkpoints) != 1 {
			t.Fatalf("got %v %s %s, %d checkpoints", rep.Outcome, rep.Message, rep.NotFrozen, len(rep.Checkpoints))
		}
		tk.From, tk.OnBegin = rep.Frozen, nil // the next is frozen before it runs
	}
	end := noop.task(t, "b")
	end.Pages, end.Freeze = &MemoryStore{}, make(chan struct{})
	if rep := run(t, p, end); rep.Outcome != task.Completed {
		t.Errorf("got %v %s", rep.Outcome, rep.Message)
	}
}

// TestModulesThatCannotBeFrozen run only where the job wants no checkpoints.
func TestModulesThatCannotBeFrozen(t *testing.T) {
	own := bytes.Replace(guest{}.bytes(), text("_start"), text("_start"), 1)
	name := append(text("__ck_x"), 0, 0) // an export in the pass's own name space
	at := bytes.Index(own, append([]byte{1}, text("_start")...))
	own = slices.Concat(own[:at], []byte{2}, own[at+1:at+10], name[:len(name)-1], []byte{0}, own[at+10:])
	own[at-1] += byte(len(name)) // of the section
	tk := moduleTask(t, own, "a")
	p := newTestPool(t)
	if rep := run(t, p, tk); rep.Outcome != task.InvalidModule || !strings.Contains(rep.Message, "cannot be frozen") ||
		!strings.Contains(rep.Message, "checkpoint: off") {
		t.Errorf("got %v %s", rep.Outcome, rep.Message)
	}
	tk.Checkpoint.Off = true
	if rep := run(t, p, tk); rep.Outcome != task.Completed || rep.Fuel != 0 {
		t.Errorf("without checkpoints: got %v %s", rep.Outcome, rep.Message)
	}
}
