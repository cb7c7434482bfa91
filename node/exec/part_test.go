package exec

import (
	"crypto/sha256"
	"errors"
	"slices"
	"strings"
	"testing"

	"godwit/internal/noop"
	"godwit/overlay"
	"godwit/owner"
	"godwit/scheduler/message"
	"godwit/task"
)

// A pair is a worker that ran a task whose results are checked, and who submitted it.
type pair struct {
	t              *testing.T
	worker, checks *Executor
	w, h           *fakeHost // of the worker, and of who checks
	id             task.TaskID
	signed         task.Result
	spacing        uint64
}

// newPair has the worker run the task to its end, as its lease says, in a real sandbox.
func newPair(t *testing.T) *pair {
	p := &pair{t: t}
	w := newFakeHost()
	w.seed = 1
	p.w = w
	r, _ := newSandboxed(t)
	p.worker = w.executor(t, r)
	p.h = newFakeHost()
	checks, _ := newSandboxed(t)
	p.checks = p.h.executor(t, checks)
	p.h.blocks = w.blocks // who checks fetches what the worker has
	module, err := w.blocks.ImportBytes(t.Context(), noop.Writing)
	if err != nil {
		t.Fatal(err)
	}
	p.id.Job = w.submitted(t, p.worker, pairJob, module)
	p.h.job, p.spacing = w.job, w.job.Spacing()
	rec, err := task.SignJob(w.job, keyOf(0))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.blocks.PutRecord(t.Context(), rec.Encode()); err != nil {
		t.Fatal(err)
	}
	p.h.on(func() { p.checks.Lend(owner.Decision{Cores: 1}) })
	job, err := p.worker.jobs.bring(t.Context(), w.Overlay(), message.Prepare{Job: p.id.Job})
	if err != nil {
		t.Fatal(err)
	}
	begins := message.Start{Task: p.id, Attempt: as(1)}
	a := p.worker.newAttempt(start{of: w, Start: begins}, job, true)
	p.signed = p.worker.runTask(a, p.worker.prepareSaving(a, begins))
	if n := p.signed.Trail.Intervals(p.spacing); p.signed.Outcome != task.Completed || n < task.MinIntervals {
		t.Fatalf("the task ends as %v with %+v", p.signed.Outcome, p.signed.Trail)
	}
	p.h.states = func(signed *task.Result) (*task.KeptStates, error) { return p.ask(p.checks.Self, signed.Trail.Root) }
	return p
}

// pairJob has two tasks that differ in what they are told.
const pairJob = "module: write.wasm\nargs: [\"{{.n}}\"]\nverify: full\nparts: 1ms\nsweep:\n  n: {from: 1, to: 2}\n"

// ask asks the worker as the network does.
func (p *pair) ask(by task.PeerID, root []byte) (*task.KeptStates, error) {
	if err := p.worker.KeptReady(p.t.Context()); err != nil {
		return nil, err
	}
	k, err := p.worker.Kept("lab", by, p.id, root, false)
	if err != nil {
		return nil, err
	}
	b, err := task.Encode(k)
	if err != nil {
		p.t.Fatal(err)
	}
	return task.DecodeKept(b)
}

// run has intervals run again.
func (p *pair) run(part message.Part, interpreted bool) message.Audited {
	return p.audit(message.Audit{Task: p.id, Part: &part, Interpreted: interpreted})
}

func (p *pair) audit(e message.Audit) message.Audited {
	done := make(chan message.Audited, 1)
	p.h.on(func() {
		p.checks.Audit(p.h, e, &p.signed, func(ev message.Audited) { done <- ev })
	})
	return <-done
}

// Each interval of a task is run again alone from what its worker kept, compiled and interpreted,
// and ends as the worker signed; several at once come to all boundaries between.
func TestIntervals(t *testing.T) {
	p := newPair(t)
	n := p.signed.Trail.Intervals(p.spacing)
	states, err := p.ask(p.checks.Self, p.signed.Trail.Root)
	if err != nil || len(states.States) != n-1 {
		t.Fatal(states, err)
	}
	of := states.Boundaries()
	for _, tt := range []struct {
		first, last int
		interpreted bool
	}{{0, 0, false}, {3, 3, false}, {3, 3, true}, {n - 1, n - 1, false}, {1, 4, false}, {0, n - 1, false}} {
		ev := p.run(message.Part{First: tt.first, Last: tt.last}, tt.interpreted)
		if ev.Unserved != "" || ev.Part == nil || ev.Part.First != tt.first {
			t.Fatalf("%+v: %+v", tt, ev)
		}
		if tt.last < len(of) {
			if e := ev.Here; e.Outcome != task.Interrupted || e.Trail.Fuel != of[tt.last].Fuel ||
				string(e.Trail.Last) != string(of[tt.last].State[:]) {
				t.Errorf("%+v: it ends as %v, %+v", tt, e.Outcome, e.Trail)
			}
		} else if why := p.signed.Difference(&ev.Here, nil); why != "" || ev.Here.Outcome != task.Completed {
			t.Errorf("%+v: %s", tt, why)
		}
		for k := tt.first; k < tt.last; k++ {
			if !slices.Contains(ev.Passed, of[k]) {
				t.Errorf("%+v: it did not come to boundary %d", tt, k)
			}
		}
	}
}

// The part at which a run parts from another is found by the boundaries of that; any run begins with a state that
// is told, if it is the one that was signed, and no larger than it may be.
func TestSoughtParts(t *testing.T) {
	p := newPair(t)
	states, err := p.ask(p.checks.Self, p.signed.Trail.Root)
	if err != nil {
		t.Fatal(err)
	}
	of := states.Boundaries()
	for name, tt := range map[string]struct {
		came []task.Boundary
		want int
	}{
		"at once": {[]task.Boundary{}, 0}, "on the way": {of[:4], 4}, "in the end": {of, len(of)},
		"once": {slices.Delete(slices.Clone(of), 2, 3), 2},
	} {
		ev := p.run(message.Part{Seek: tt.came}, false)
		if ev.Unserved != "" || ev.Part.First != tt.want || ev.Part.Last != tt.want {
			t.Errorf("%s: %+v", name, ev)
		}
	}
	good := message.Began{Fuel: of[2].Fuel, Hash: of[2].State[:], CID: states.States[2].CID}
	for name, tt := range map[string]struct {
		change func(*message.Began)
		why    string
	}{
		"as it was signed": {func(*message.Began) {}, ""},
		"another":          {func(b *message.Began) { b.CID = states.States[3].CID }, "another hash"},
		"nowhere":          {func(b *message.Began) { b.CID = "" }, "nobody says where"},
		"too large":        {func(b *message.Began) { b.Most = 100 }, "large"},
	} {
		from := good
		tt.change(&from)
		ev := p.audit(message.Audit{Task: p.id, From: &from, StopAt: of[3].Fuel})
		if (ev.Unserved == "") != (tt.why == "") || !strings.Contains(ev.Unserved, tt.why) {
			t.Errorf("%s: %q", name, ev.Unserved)
		}
		if tt.why == "" && (ev.Here.Trail == nil || string(ev.Here.Trail.Last) != string(of[3].State[:])) {
			t.Errorf("%s: %+v", name, ev.Here)
		}
	}
}

// What a worker does in place of serving a state has nothing run, and says whether it is to blame.
func TestHostileStates(t *testing.T) {
	p := newPair(t)
	good, err := p.ask(p.checks.Self, p.signed.Trail.Root)
	if err != nil {
		t.Fatal(err)
	}
	changed := func(change func(*task.KeptStates)) func(*task.Result) (*task.KeptStates, error) {
		return func(*task.Result) (*task.KeptStates, error) {
			k := &task.KeptStates{States: slices.Clone(good.States)}
			change(k)
			return k, nil
		}
	}
	junk, err := p.h.blocks.ImportBytes(t.Context(), []byte("no state"))
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		states  func(*task.Result) (*task.KeptStates, error)
		refused bool
		why     string
	}{
		"refuses":   {func(*task.Result) (*task.KeptStates, error) { return nil, ErrRefused }, true, "names no states"},
		"lost them": {func(*task.Result) (*task.KeptStates, error) { return nil, ErrLost }, false, "any more"},
		"is away":   {func(*task.Result) (*task.KeptStates, error) { return nil, errors.New("gone") }, false, "gone"},
		"too few": {changed(func(k *task.KeptStates) { k.States = k.States[1:] }), true,
			"not those that the worker signed"},
		"none":       {changed(func(k *task.KeptStates) { k.States = nil }), true, "not those that the worker signed"},
		"other fuel": {changed(func(k *task.KeptStates) { k.States[1].Fuel++ }), true, "not those that the worker signed"},
		"other order": {changed(func(k *task.KeptStates) { k.States[1], k.States[2] = k.States[2], k.States[1] }), true,
			"not those that the worker signed"},
		"another state": {changed(func(k *task.KeptStates) { k.States[2].CID = k.States[1].CID }), true, "another hash"},
		"no state":      {changed(func(k *task.KeptStates) { k.States[2].CID = junk }), true, "none of the task"},
	} {
		p.h.states = tt.states
		ev := p.run(message.Part{First: 3, Last: 3}, false)
		if !strings.Contains(ev.Unserved, tt.why) || ev.Refused != tt.refused || ev.Lost != (name == "lost them") ||
			ev.Here.Outcome != task.Interrupted {
			t.Errorf("%s: %q, refused %v, %v", name, ev.Unserved, ev.Refused, ev.Here.Outcome)
		}
	}
	for _, part := range []message.Part{{First: -1}, {First: 2, Last: 1}, {Last: 99}} {
		if ev := p.run(part, false); ev.Unserved == "" || ev.Refused {
			t.Errorf("%+v: %+v", part, ev)
		}
	}
	p.h.states = changed(func(k *task.KeptStates) { k.States[2].CID = "" })
	if ev := p.run(message.Part{First: 3, Last: 3}, false); ev.Unserved != "" || ev.Part.First != 2 {
		t.Errorf("where a state is not kept: %+v", ev)
	}
}

// A worker that signs what it came to of one task as the result of another has no part of it run:
// each state is of its own task. So to run one task does not do for many.
func TestStatesOfAnotherTask(t *testing.T) {
	p := newPair(t)
	of := p.id
	p.id.Index++
	p.signed.Task = p.id
	p.h.states = func(signed *task.Result) (*task.KeptStates, error) {
		return p.worker.Kept("lab", p.checks.Self, of, signed.Trail.Root, false)
	}
	ev := p.run(message.Part{First: 3, Last: 3}, false)
	if !ev.Refused || !strings.Contains(ev.Unserved, "checkpoint") || len(ev.Passed) > 0 {
		t.Errorf("%q, refused %v, %+v", ev.Unserved, ev.Refused, ev.Here)
	}
	states, err := p.worker.Kept("lab", p.checks.Self, of, p.signed.Trail.Root, false)
	if err != nil {
		t.Fatal(err)
	}
	if ev = p.run(message.Part{}, false); ev.Unserved != "" || // the first part begins with the task itself
		string(ev.Here.Trail.Last) == string(states.States[0].Hash) {
		t.Errorf("the first part comes to the same: %q, %+v", ev.Unserved, ev.Here)
	}
}

// States are for who submitted the job, in its overlay, by the trail that was signed; until they
// are released.
func TestWhoGetsStates(t *testing.T) {
	p := newPair(t)
	root := p.signed.Trail.Root
	other := sha256.Sum256(nil)
	for name, tt := range map[string]struct {
		of   overlay.ID
		by   task.PeerID
		id   task.TaskID
		root []byte
		want error
	}{
		"submitter":     {"lab", p.checks.Self, p.id, root, nil},
		"stranger":      {"lab", p.worker.Self, p.id, root, ErrRefused},
		"other overlay": {"else", p.checks.Self, p.id, root, ErrRefused},
		"other task":    {"lab", p.checks.Self, task.TaskID{Job: p.id.Job, Index: 1}, root, ErrLost},
		"other trail":   {"lab", p.checks.Self, p.id, other[:], ErrLost},
		"no trail":      {"lab", p.checks.Self, p.id, nil, ErrLost},
	} {
		if k, err := p.worker.Kept(tt.of, tt.by, tt.id, tt.root, false); err != tt.want || (k != nil) != (err == nil) {
			t.Errorf("%s: %v, %v", name, k, err)
		}
	}
	if len(p.worker.kept.roots()) == 0 {
		t.Error("no state is kept")
	}
	if _, err := p.worker.Kept("lab", p.checks.Self, p.id, root, true); err != nil {
		t.Error(err)
	}
	if k := &p.worker.kept; len(k.roots()) > 0 || k.bytes != 0 {
		t.Errorf("%d bytes are left", k.bytes)
	}
}
