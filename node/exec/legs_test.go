package exec

import (
	"strings"
	"testing"

	"godwit/scheduler/message"
	"godwit/task"
)

// A movedPair is a pair whose task another worker had run before, and left in the middle of a part.
type movedPair struct {
	*pair
	first *Executor
	f     *fakeHost // of who ran it first
	of    [2]*task.KeptStates
}

func newMovedPair(t *testing.T) *movedPair {
	p := &movedPair{pair: newPair(t), f: newFakeHost()}
	p.f.seed, p.f.blocks, p.f.job = 2, p.w.blocks, p.w.job
	r, _ := newSandboxed(t)
	p.first = p.f.executor(t, r)
	state := p.leaves()
	begins := message.Start{Task: p.id, Attempt: as(2), From: state,
		Receipt: leased(t, p.id, p.worker.Self, task.Receipt{Seq: 2, From: state.CID})}
	if p.signed = p.goesOn(p.worker, p.w, begins, 0); p.signed.Outcome != task.Completed || p.signed.Verify() != nil {
		t.Fatalf("it ends as %v %s, %v", p.signed.Outcome, p.signed.Message, p.signed.Verify())
	}
	for leg, x := range []*Executor{p.worker, p.first} {
		kept, err := x.Kept("lab", p.checks.Self, p.id, p.signed.Leg(leg).Trail.Root, false)
		if err != nil {
			t.Fatal(leg, err)
		}
		p.of[leg] = kept
	}
	p.h.states = func(signed *task.Result) (*task.KeptStates, error) {
		x := map[task.PeerID]*Executor{p.worker.Self: p.worker, p.first.Self: p.first}[signed.Worker]
		return x.Kept("lab", p.checks.Self, p.id, signed.Trail.Root, false)
	}
	return p
}

// leaves has the first worker leave the task in the middle. On a busy machine it is stopped late.
func (p *movedPair) leaves() *message.Checkpoint {
	begins := message.Start{Task: p.id, Attempt: as(1), Receipt: leased(p.t, p.id, p.first.Self, task.Receipt{Seq: 1})}
	for range 20 {
		left := p.goesOn(p.first, p.f, begins, 3)
		for _, ev := range p.f.heard() {
			c, is := ev.(message.Checkpointed)
			if is && left.Outcome == task.Interrupted && c.Checkpoint.Voucher.Boundaries >= 3 &&
				c.Checkpoint.Voucher.Boundaries+4 <= p.signed.Trail.Boundaries {
				return &c.Checkpoint
			}
		}
	}
	p.t.Fatal("the first worker never leaves the task in the middle")
	return nil
}

// goesOn has a worker run the task, to its end or until it came to so many boundaries, and signs the result.
func (p *movedPair) goesOn(x *Executor, h *fakeHost, begins message.Start, until int) task.Result {
	job, err := x.jobs.bring(p.t.Context(), h.Overlay(), message.Prepare{Job: p.id.Job})
	if err != nil {
		p.t.Fatal(err)
	}
	a := x.newAttempt(start{of: h, Start: begins}, job, true)
	s := x.prepareSaving(a, begins)
	came, noted := 0, s.OnBoundary
	s.OnBoundary = func(b task.Boundary) {
		noted(b)
		if came++; came == until {
			a.save()
		}
	}
	res := x.runTask(a, s)
	if err := res.SignBy(x.Self, x.Sign); err != nil { // as its worker does
		p.t.Fatal(err)
	}
	return res
}

// Each part of a task that moved is run again alone, whoever ran it, from what that one kept: to the state that it
// left, and over the place where another went on. It is so still when their nodes have begun anew.
func TestPartsOfLegs(t *testing.T) {
	p := newMovedPair(t)
	legs := p.signed.Trail.Legs(p.spacing)
	if len(legs) != 2 || legs[1] < 4 || legs[0] < 4 {
		t.Fatalf("legs are %v of %+v", legs, p.signed.Trail)
	}
	for leg, n := range legs {
		for k := range n {
			ev := p.run(message.Part{Leg: leg, First: k, Last: k}, k == n-1)
			if ev.Unserved != "" || ev.Part == nil || ev.Part.Leg != leg {
				t.Fatalf("part %d of leg %d: %+v", k, leg, ev)
			}
			ends := p.signed.Trail.Leg(leg).Last
			if k < len(p.of[leg].States) {
				ends = p.of[leg].States[k].Hash
			} else if leg == 0 {
				if why := p.signed.Difference(&ev.Here, nil); why != "" && !strings.Contains(why, "another way") {
					t.Errorf("the last part: %s", why)
				}
				continue
			}
			if ev.Here.Trail == nil || string(ev.Here.Trail.Last) != string(ends) {
				t.Errorf("part %d of leg %d ends as %v, %+v", k, leg, ev.Here.Outcome, ev.Here.Trail)
			}
		}
	}
	x, _ := newSandboxed(t)
	if err := p.first.Close(); err != nil {
		t.Fatal(err)
	}
	p.first = p.f.executor(t, x)
	if err := p.first.KeptReady(t.Context()); err != nil {
		t.Fatal(err)
	}
	if ev := p.run(message.Part{Leg: 1, First: 3, Last: 3}, false); ev.Unserved != "" || ev.Part.First != 3 {
		t.Errorf("when its node has begun anew: %+v", ev)
	}
}

// Whoever does not serve a state of its leg has the whole task run, and it is said who that is; a part of a leg that
// is none is not run.
func TestHostileLegs(t *testing.T) {
	p := newMovedPair(t)
	good := p.h.states
	for name, tt := range map[string]struct {
		part    message.Part
		refuses int // which leg's worker
		asked   int
	}{
		"its own":                      {message.Part{Leg: 1, First: 2, Last: 2}, 1, 1},
		"the last's":                   {message.Part{Leg: 0, First: 2, Last: 2}, 0, 0},
		"the one before, of the first": {message.Part{Leg: 0}, 1, 1},
	} {
		p.h.states = func(signed *task.Result) (*task.KeptStates, error) {
			if signed.Worker == p.signed.Leg(tt.refuses).Worker {
				return nil, ErrRefused
			}
			return good(signed)
		}
		if ev := p.run(tt.part, false); !ev.Refused || ev.Asked != tt.asked {
			t.Errorf("%s: %q, asked %d", name, ev.Unserved, ev.Asked)
		}
	}
	p.h.states = func(signed *task.Result) (*task.KeptStates, error) { return p.of[0], nil }
	if ev := p.run(message.Part{Leg: 1, First: 2, Last: 2}, false); !ev.Refused || ev.Asked != 1 {
		t.Errorf("another's states: %q", ev.Unserved)
	}
	for _, part := range []message.Part{{Leg: 2}, {Leg: -1}, {Leg: 1, First: 3, Last: 99}} {
		if ev := p.run(part, false); ev.Unserved == "" || ev.Refused {
			t.Errorf("%+v: %+v", part, ev)
		}
	}
}
