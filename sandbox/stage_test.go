package sandbox

import (
	"context"
	"crypto/sha256"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"godwit/sandbox/freeze"
	"godwit/task"
)

// states freezes a task at each of these amounts of fuel, and gives the
// manifests. Their blocks are in the task's store.
func states(t *testing.T, tk Task, at ...uint64) [][]byte {
	t.Helper()
	p := newTestPool(t)
	var out [][]byte
	for _, fuel := range at {
		tk.FreezeAtFuel = fuel
		rep := run(t, p, tk)
		if rep.Outcome != task.Interrupted {
			t.Fatalf("not frozen at fuel %d: %v %s %s", fuel, rep.Outcome, rep.Message, rep.NotFrozen)
		}
		tk.From = rep.Frozen
		out = append(out, rep.Frozen)
	}
	return out
}

// blocksAhead are pages that a manifest names, as they come before it does.
func blocksAhead(t *testing.T, store Store, manifest []byte) []Block {
	t.Helper()
	man, err := freeze.DecodeManifest(manifest)
	if err != nil {
		t.Fatal(err)
	}
	var out []Block
	for _, p := range man.Pages {
		b, err := store.Get(p.Hash)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, Block{Page: p.Number, Hash: p.Hash, Data: b})
	}
	return out
}

// inStages runs a task whose state comes in these stages, each sent when the
// one before is taken in.
func inStages(t *testing.T, p *Pool, tk Task, stages ...Stage) (Report, error) {
	t.Helper()
	in := make(chan Stage, len(stages))
	tk.Stages, tk.From = in, nil
	var heard []string
	next := func() {
		for len(stages) > 0 {
			s := stages[0]
			stages = stages[1:]
			in <- s
			if len(s.Ahead) == 0 {
				return
			}
		}
	}
	tk.OnStandby = func() { heard = append(heard, "standby"); next() }
	n := 0
	tk.OnStage = func(k int) {
		if heard = append(heard, "stage"); k != n {
			t.Errorf("stage %d taken in, want %d", k, n)
		}
		n++
		next()
	}
	tk.OnBegin = func() { heard = append(heard, "begin") }
	rep, err := p.Run(t.Context(), tk)
	if err == nil && (len(heard) < 2 || heard[0] != "standby" || heard[len(heard)-1] != "begin") {
		t.Errorf("heard %v", heard)
	}
	return rep, err
}

// TestStages: a task whose state came in several stages ends as if it had never
// moved, and what it is saved as later is right, and small.
func TestStages(t *testing.T) {
	for _, c := range []struct {
		source string
		args   []string
	}{
		{"mixed.c", []string{"2000", "3"}},
		{"tides.c", []string{"1"}},
		{"go", []string{"mixed", "300"}},
	} {
		t.Run(c.source, func(t *testing.T) {
			store := &MemoryStore{}
			tk := moduleTask(t, traveller(t, c.source), "job/"+c.source)
			tk.Args, tk.Outputs, tk.StateHash = c.args, []string{"stdout", "stderr", "*"}, true
			tk.Files = []Input{{Name: "in/put", Data: []byte("text")}}
			p := newTestPool(t)
			want := run(t, p, tk)
			tk.Pages = store
			part := want.Fuel / 6
			m := states(t, tk, part, 2*part, 4*part)
			if c.source == "tides.c" {
				checkTides(t, m)
			}
			tk.FreezeAtFuel = 5 * part
			mid, err := inStages(t, p, tk, Stage{Manifest: m[0]}, Stage{Ahead: blocksAhead(t, store, m[1])},
				Stage{Manifest: m[1]},
				Stage{Ahead: blocksAhead(t, store, m[1])}, Stage{Manifest: m[2], Last: true})
			if err != nil || mid.Outcome != task.Interrupted || mid.Restore <= 0 {
				t.Fatalf("after stages: %v %s, %v, restored in %v", mid.Outcome, mid.Message, err, mid.Restore)
			}
			direct := tk
			direct.From = m[2]
			if whole := run(t, p, direct); whole.StateHash != mid.StateHash || whole.Fuel != mid.Fuel {
				t.Errorf("state %x at fuel %d, without stages %x at %d", mid.StateHash[:4], mid.Fuel, whole.StateHash[:4],
					whole.Fuel)
			}
			tk.From, tk.FreezeAtFuel = mid.Frozen, 0
			same(t, run(t, p, tk), want)
		})
	}
}

// checkTides: the manifests are of a memory that grows, and whose pages become
// zeros.
func checkTides(t *testing.T, manifests [][]byte) {
	t.Helper()
	grew, vanished := false, false
	var last *freeze.Manifest
	for _, b := range manifests {
		man, err := freeze.DecodeManifest(b)
		if err != nil {
			t.Fatal(err)
		}
		if last != nil {
			grew = grew || man.State.Pages > last.State.Pages
			for _, p := range last.Pages {
				vanished = vanished || !slices.ContainsFunc(man.Pages, func(q freeze.Page) bool { return q.Number == p.Number })
			}
		}
		last = man
	}
	if !grew || !vanished {
		t.Errorf("the memory grew: %t, pages vanished: %t", grew, vanished)
	}
}

// A checkpoint after a start in stages stores only what changed since.
func TestStagesAreKnown(t *testing.T) {
	tk := moduleTask(t, traveller(t, "large.c"), "job/1")
	tk.Args, tk.Limits.Memory, tk.Pages = []string{"1000000000"}, 128<<20, &MemoryStore{}
	enough, made := make(chan struct{}), 0
	first := tk
	first.Every, first.Freeze = 50*time.Millisecond, enough
	first.OnCheckpoint = func([]byte, uint64, time.Duration) {
		if made++; made == 4 { // it is full, and changes
			close(enough)
		}
	}
	rep := run(t, newTestPool(t), first)
	man, err := freeze.DecodeManifest(rep.Frozen)
	if err != nil {
		t.Fatal(err)
	}
	tk.FreezeAtFuel = man.State.Fuel + 1000
	got, err := inStages(t, newTestPool(t), tk, Stage{Ahead: blocksAhead(t, tk.Pages, rep.Frozen)},
		Stage{Manifest: rep.Frozen, Last: true})
	if err != nil || got.Outcome != task.Interrupted {
		t.Fatalf("%v %s, %v", got.Outcome, got.Message, err)
	}
	if c := got.Checkpoints[0]; c.Bytes < 64<<20 || c.StoredBytes > 8*pageSize {
		t.Errorf("the checkpoint of %d bytes stored %d", c.Bytes, c.StoredBytes)
	}
}

// TestBadStages: what is wrong with a stage ends the run with the reason, and
// the host's memory is not what pays for it.
func TestBadStages(t *testing.T) {
	good := frozenTask(t)
	state := good.From
	ahead := blocksAhead(t, good.Pages, state)
	change := func(f func(*Block)) []Block {
		b := slices.Clone(ahead)
		f(&b[len(b)-1])
		return b
	}
	last := Stage{Manifest: state, Last: true}
	p := newTestPool(t)
	for name, c := range map[string]struct {
		change func(*Task)
		stages []Stage
		reason string
	}{
		"a false page":   {nil, []Stage{{Ahead: change(func(b *Block) { b.Hash[3]++ })}, last}, "hash"},
		"another's page": {nil, []Stage{{Ahead: change(func(b *Block) { b.Data = ahead[0].Data })}, last}, "hash"},
		"no block":       {nil, []Stage{{Ahead: change(func(b *Block) { b.Data = []byte("x") })}, last}, "refused"},
		"a huge block": {nil, []Stage{{Ahead: change(func(b *Block) { b.Data = make([]byte, 2<<20) })}, last},
			"bytes compressed"},
		"far page":         {nil, []Stage{{Ahead: change(func(b *Block) { b.Page = 1 << 31 })}, last}, "page 2147483648"},
		"beyond its end":   {nil, []Stage{{Ahead: change(func(b *Block) { b.Page = 900 })}, last}, "pages"},
		"missing blocks":   {func(tk *Task) { tk.Pages = &MemoryStore{} }, []Stage{{Manifest: state}, last}, "block"},
		"damaged manifest": {nil, []Stage{{Manifest: state[:len(state)-1]}, last}, "cut short"},
		"another task's":   {func(tk *Task) { tk.Name = "job/2" }, []Stage{{Manifest: state}, last}, "another name"},
		"only at the last": {func(tk *Task) { tk.Name = "job/2" }, []Stage{last}, "another name"},
		"no frames": {nil, []Stage{{Manifest: reforge(t, state, func(m *freeze.Manifest) { m.State.Frames = nil })},
			last}, "has ended"},
		"a false global": {nil, []Stage{{Manifest: reforge(t, state,
			func(m *freeze.Manifest) { m.State.Globals = m.State.Globals[1:] })}, last},
			"globals"},
		"huge memory": {nil, []Stage{{Manifest: reforge(t, state, func(m *freeze.Manifest) { m.State.Pages = 1 << 16 })},
			last}, "over the limit"},
		"nothing": {nil, []Stage{{}}, "either"},
		"both":    {nil, []Stage{{Manifest: state, Ahead: ahead}}, "either"},
	} {
		tk := good
		if c.change != nil {
			c.change(&tk)
		}
		stages := make(chan Stage, len(c.stages)) // all at once: what comes behind a bad one must not block
		for _, s := range c.stages {
			stages <- s
		}
		tk.From, tk.Stages = nil, stages
		rep, err := p.Run(t.Context(), tk)
		if err == nil || !strings.Contains(err.Error(), c.reason) || !errors.Is(err, ErrCheckpoint) {
			t.Errorf("%s: got %v %s, %v; want a refusal that says %q", name, rep.Outcome, rep.Message, err, c.reason)
		}
	}
	if rep, err := inStages(t, p, good, Stage{Ahead: append(ahead, ahead...)}, last); err != nil ||
		rep.Outcome != task.Completed {
		t.Errorf("the good one: %v %s, %v", rep.Outcome, rep.Message, err)
	}
}

// A task whose state does not come is no report of a failure, and one that waits
// uses up none of its time.
func TestStagesThatEnd(t *testing.T) {
	good := frozenTask(t)
	state := good.From
	p := newTestPool(t)
	none := make(chan Stage)
	tk := good
	tk.From, tk.Stages = nil, none
	tk.OnStandby = func() { close(none) }
	if rep, err := p.Run(t.Context(), tk); err != nil || rep.Outcome != task.Interrupted || len(rep.Frozen) > 0 {
		t.Errorf("without a last stage: %v %s, %v", rep.Outcome, rep.Message, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	tk.Stages, tk.OnStandby = make(chan Stage), cancel
	if rep, err := p.Run(ctx, tk); !errors.Is(err, context.Canceled) || rep.Outcome != task.Interrupted {
		t.Errorf("cancelled: %v, %v", rep.Outcome, err)
	}
	cancel()
	const wall = 400 * time.Millisecond
	late := make(chan Stage)
	tk.Stages, tk.Limits.Wall = late, wall
	tk.OnStandby = func() {
		time.AfterFunc(wall+wall/2, func() { late <- Stage{Manifest: state, Last: true} })
	}
	if rep, err := p.Run(t.Context(), tk); err != nil || rep.Outcome != task.Completed || rep.Wall >= wall {
		t.Errorf("after a wait: %v %s, %v, %v", rep.Outcome, rep.Message, err, rep.Wall)
	}
	tk.From = state
	if _, err := p.Run(t.Context(), tk); err == nil {
		t.Error("a state and stages: no error")
	}
	tk.From, tk.Pages = nil, nil
	if _, err := p.Run(t.Context(), tk); err == nil {
		t.Error("stages without a store: no error")
	}
}

// TestSave: whoever asks for a checkpoint gets one, and those who ask while one
// is made get one together.
func TestSave(t *testing.T) {
	tk := moduleTask(t, traveller(t, "large.c"), "job/1")
	save, end := make(chan struct{}), make(chan struct{})
	tk.Args, tk.Limits.Memory, tk.Pages, tk.Save, tk.Freeze = []string{"1000000000"}, 128<<20, &MemoryStore{}, save, end
	saves := make(chan [sha256.Size]byte, 100)
	tk.OnCheckpoint = func(b []byte, _ uint64, _ time.Duration) { saves <- sha256.Sum256(b) }
	began := make(chan struct{})
	tk.OnBegin = func() { close(began) }
	done := make(chan Report, 1)
	p := newTestPool(t)
	go func() {
		rep, err := p.Run(t.Context(), tk)
		if err != nil {
			t.Error(err)
		}
		done <- rep
	}()
	<-began
	const burst, single = 50, 3
	for range burst {
		save <- struct{}{}
	}
	<-saves
	for len(saves) > 0 {
		<-saves
	}
	for range single {
		save <- struct{}{}
		<-saves
	}
	close(save)
	close(end)
	rep := <-done
	if n := len(rep.Checkpoints); rep.Outcome != task.Interrupted || n < 1+single+1 || n > 3+single+1 {
		t.Errorf("%v %s: %d checkpoints for %d wishes at once and %d after", rep.Outcome, rep.NotFrozen, n, burst, single)
	}
}
