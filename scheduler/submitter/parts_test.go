package submitter

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"godwit/credibility"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

const parts = 20 // of each task here

// A way is a worker's run of a task, whose states follow from each other: in the interval lie, if
// that is not below 0, it went wrong. The end follows from the last state.
type way struct{ lie int }

func (w way) after(state [32]byte, k int) [32]byte {
	next := sha256.Sum256(fmt.Appendf(state[:], "%d", k))
	if k == w.lie {
		next[0] ^= 1
	}
	return next
}

// run goes on from a state through intervals, and returns the boundaries and the last state.
func (w way) run(state [32]byte, first, last int) (of []task.Boundary, end [32]byte) {
	for k := first; k <= last; k++ {
		state = w.after(state, k)
		if k < parts-1 {
			of = append(of, task.Boundary{Fuel: uint64(k+1)*task.DefaultSpacing + 7, State: state})
		}
	}
	return of, state
}

// signs is what a key's holder signs who ran the task so.
func (w way) signs(b *auditBench, worker int, i uint64) task.Result {
	key, _ := schedtest.Identity(worker)
	of, end := w.run([32]byte{}, 0, parts-1)
	return b.ended(key, b.task(i), of, end)
}

// ended is the signed end of a run.
func (b *auditBench) ended(key []byte, id task.TaskID, of []task.Boundary, end [32]byte) task.Result {
	r := schedtest.Result(b.tb, key, id, fmt.Sprintf("%x", end[:4]))
	r.Trail = &task.Trail{Pass: 1, Fuel: parts*task.DefaultSpacing - 1, Last: end[:], Boundaries: uint32(len(of)),
		Root: task.TrailRoot(of), Engine: "amd64"}
	if err := r.Sign(key); err != nil {
		b.tb.Fatal(err)
	}
	return r
}

// kept is what the worker says that it kept.
func (w way) kept() *task.KeptStates {
	of, _ := w.run([32]byte{}, 0, parts-1)
	k := &task.KeptStates{}
	for i := range of {
		k.States = append(k.States, task.KeptState{Fuel: of[i].Fuel, Hash: of[i].State[:], CID: task.RawCID(of[i].State[:])})
	}
	return k
}

// answerPart has the machine run what it is to, honestly, from what the worker served. It returns
// how many intervals that were.
func (b *auditBench) answerPart(worker way, change func(*message.Audited)) int {
	a := b.audits[0]
	b.audits = b.audits[1:]
	held, err := DecodeSummary(b.disk[ResultKey(a.Task.Job, a.Task.Index)])
	if err != nil {
		b.tb.Fatal(err)
	}
	honest, first, last, state := way{-1}, 0, parts-1, [32]byte{}
	ev := message.Audited{Task: a.Task, Interpreted: a.Interpreted, Held: held}
	if p := a.Part; p != nil {
		kept := worker.kept()
		if first, last = p.First, p.Last; p.Seek != nil {
			for first < parts-1 && slices.Contains(p.Seek, kept.Boundaries()[first]) {
				first++
			}
			last = first
		}
		if first > 0 {
			state = [32]byte(kept.States[first-1].Hash)
		}
		ev.Part = &message.Part{First: first, Last: last, States: kept}
	}
	of, end := honest.run(state, first, last)
	ev.Passed = of
	if last == parts-1 {
		ev.Here = b.ended(b.key, a.Task, of, end)
	} else {
		ev.Here = task.Result{Task: a.Task, Outcome: task.Interrupted,
			Trail: &task.Trail{Pass: 1, Fuel: of[len(of)-1].Fuel, Last: end[:], Engine: "amd64"}}
		if err := ev.Here.Sign(b.key); err != nil {
			b.tb.Fatal(err)
		}
	}
	if change != nil {
		change(&ev)
	}
	b.do(ev)
	return last - first + 1
}

// finish answers until nothing is to run, and returns how many intervals ran.
func (b *auditBench) finish(worker way) (ran int) {
	for len(b.audits) > 0 {
		ran += b.answerPart(worker, nil)
	}
	return ran
}

// What is right in the intervals that were drawn is accepted, counts as much as they are, and is
// said to people; the worker may forget its states then. Nothing of it is lost with a restart.
func TestPartsAreRight(t *testing.T) {
	b := newAuditBench(t, 1, "30%")
	honest := way{-1}
	b.deliver(0, nil, honest.signs(b, 2, 0))
	if p := b.s.Parts(b.id, []uint64{0})[0]; p != (message.Parts{Of: parts}) || b.audits[0].Part == nil {
		t.Fatalf("%+v, %+v", p, b.audits)
	}
	if ran := b.finish(honest); ran != 6 {
		t.Errorf("%d intervals ran", ran)
	}
	for _, when := range []string{"at once", "after a restart"} {
		c := b.allChecks()
		if p := b.s.Parts(b.id, []uint64{0})[0]; p != (message.Parts{Checked: 6, Of: parts}) || c.Accepted != 1 ||
			c.Due+c.Open+c.Right != 0 {
			t.Errorf("%s: %+v, %+v", when, p, c)
		}
		_, worker := schedtest.Identity(2)
		if k := b.s.audits.known(worker); k.Known != .3 || k.Audits != 1 {
			t.Errorf("%s: %+v", when, k)
		}
		b.restart()
	}
}

// One interval that is wrong is found when it is drawn, whichever it is, and named; the result is
// replaced by one run of the whole. What is not drawn is not run.
func TestPartIsWrong(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		b := newAuditBench(t, 1, rapid.SampledFrom([]string{"10%", "50%", "90%"}).Draw(rt, "verify"))
		worker := way{rapid.IntRange(0, parts-1).Draw(rt, "lie")}
		b.deliver(0, nil, worker.signs(b, rapid.IntRange(2, 9).Draw(rt, "worker"), 0))
		d := b.s.jobs[b.id].checks.drawn[0]
		ran := b.finish(worker)
		c := b.checks()
		caught := d.which.Contains(uint64(worker.lie))
		if caught != (c.Wrong == 1) || c.Due+c.Open != 0 {
			rt.Fatalf("drawn %v, wrong in %d: %+v", d.which, worker.lie, c)
		}
		if !caught {
			if ran != d.count() {
				rt.Fatalf("%d intervals ran of %d", ran, d.count())
			}
			return
		}
		w := b.held(0).Refuted
		if w == nil || w.By != w.Result.Worker || w.Part == nil || int(w.Part.Number) != worker.lie ||
			w.Part.To <= w.Part.From || !strings.Contains(w.Why, "the part from fuel") {
			rt.Fatalf("refuted is %+v", w)
		}
		proves(rt, w, worker.lie)
		if most := 2*d.count() + parts + 1; ran > most { // one more where several in a row were drawn
			rt.Errorf("%d intervals ran, at most %d", ran, most)
		}
	})
}

// proves checks that a proof is of that interval alone, with the state that its worker signed before.
func proves(tb rapid.TB, w *message.Refuted, lie int) {
	tb.Helper()
	if w.Proof == nil {
		tb.Fatalf("no proof: %+v", w)
	}
	part, err := w.Result.Segment(w.Proof, task.DefaultSpacing)
	if err != nil || part.By != w.By || part.From != w.Part.From || part.To != w.Part.To ||
		(lie == parts-1) != part.Ends() {
		tb.Fatalf("%+v, %v", part, err)
	}
	state := way{lie}.kept()
	for k := range state.States {
		if s := state.States[k]; k == lie-1 && (part.State != s.CID || string(part.Before) != string(s.Hash)) {
			tb.Fatalf("it begins with %+v", part)
		}
	}
	if lie == 0 && len(part.Before) > 0 {
		tb.Fatalf("it begins with %+v", part)
	}
}

// Where the whole task was run the part is sought that is wrong, and kept with its state for others. A worker
// that serves none is named all the same.
func TestPartIsSought(t *testing.T) {
	for name, unserved := range map[string]bool{"it serves its states": false, "it refuses them": true} {
		for lie := range parts {
			b := newAuditBench(t, 1, "full")
			worker := way{lie}
			b.deliver(0, nil, worker.signs(b, 2, 0))
			for n := 0; len(b.audits) > 0; n++ {
				a := b.audits[0]
				if (n == 2) != (a.Part != nil) || n == 2 && a.Part.Seek == nil {
					t.Fatalf("%s: run %d is %+v", name, n, a)
				}
				b.answerPart(worker, func(ev *message.Audited) {
					if a.Part != nil && unserved {
						ev.Part, ev.Unserved, ev.Refused = nil, "why", true
						ev.Here = b.ends(task.Interrupted)(message.Audit{Task: ev.Task})
					}
				})
				if n == 2 {
					break
				}
				if a := b.s.audits.at[b.task(0)]; n == 1 && (a == nil || a.narrow == nil) {
					t.Fatalf("%s: nothing is sought", name)
				}
			}
			w := b.held(0).Refuted
			if c := b.checks(); c.Wrong != 1 || len(b.audits) > 0 || w == nil || w.By != w.Result.Worker ||
				(w.Proof == nil) != unserved {
				t.Fatalf("%s: %+v, %+v, %+v", name, c, w, b.audits)
			}
			if !unserved {
				proves(t, w, lie)
			}
		}
	}
}

// Where no core is free for the part its worker is named without it, and what comes later changes nothing.
func TestPartIsSoughtInVain(t *testing.T) {
	b := newAuditBench(t, 1, "full")
	worker := way{5}
	b.deliver(0, nil, worker.signs(b, 2, 0))
	b.answerPart(worker, nil)
	b.answerPart(worker, nil)
	if len(b.audits) != 1 || b.audits[0].Part == nil || b.held(0).Refuted != nil {
		t.Fatalf("%+v", b.audits)
	}
	sought := b.audits
	b.now = b.now.Add(narrowMost)
	b.do(message.Wake{})
	if w := b.held(0).Refuted; w == nil || w.By == "" || w.Proof != nil {
		t.Fatalf("refuted is %+v", w)
	}
	b.audits = sought
	b.answerPart(worker, nil)
	if w := b.held(0).Refuted; w.Proof != nil || len(b.audits) > 0 || b.checks().Wrong != 1 {
		t.Errorf("%+v, %+v", w, b.audits)
	}
}

// States are kept for a few results of a job.
func TestFewProofsHaveStates(t *testing.T) {
	b := newAuditBench(t, maxProofStates+2, "full")
	worker := way{5}
	for i := range uint64(maxProofStates + 2) {
		b.deliver(i, nil, worker.signs(b, 2+int(i), i))
		b.finish(worker)
		if w := b.held(i).Refuted; (w.Proof != nil) != (i < maxProofStates) || (w.StateOf() != "") != (w.Proof != nil) {
			t.Errorf("%d: %+v", i, w.Proof)
		}
	}
}

// Whatever a worker does in place of serving its states costs at most that the whole task runs, and
// the refusing one its standing.
func TestUnserved(t *testing.T) {
	for name, tt := range map[string]struct {
		refused bool
		lie     int
		want    message.Checks
	}{
		"refuses":          {true, -1, message.Checks{Right: 1}},
		"is away":          {false, -1, message.Checks{Right: 1}},
		"refuses and lies": {true, 4, message.Checks{Wrong: 1}},
	} {
		b := newAuditBench(t, 1, "30%")
		worker := way{tt.lie}
		b.deliver(0, nil, worker.signs(b, 2, 0))
		b.answerPart(worker, func(ev *message.Audited) {
			ev.Unserved, ev.Refused = "why", tt.refused
			ev.Here = b.ends(task.Interrupted)(message.Audit{Task: ev.Task})
		})
		if len(b.audits) != 1 || b.audits[0].Part != nil {
			t.Fatalf("%s: %+v", name, b.audits)
		}
		most := parts
		if tt.lie >= 0 { // interpreted, too, before anybody is named, and the part that is wrong for the proof
			most += parts + 1
		}
		if ran := b.finish(worker); ran > most {
			t.Errorf("%s: %d intervals ran, at most %d", name, ran, most)
		}
		tt.want.Verify = "30%"
		if c := b.checks(); c != tt.want {
			t.Errorf("%s: %+v", name, c)
		}
		_, id := schedtest.Identity(2)
		if k := b.s.audits.known(id); (k.Refusals == 1) != tt.refused {
			t.Errorf("%s: %+v", name, k)
		}
	}
}

// Who refuses for the third time begins at nothing.
func TestRefusesAgain(t *testing.T) {
	b := newAuditBench(t, credibility.MostRefusals, "30%")
	honest := way{-1}
	for i := range uint64(credibility.MostRefusals) {
		b.deliver(i, nil, honest.signs(b, 2, i))
		b.answerPart(honest, func(ev *message.Audited) { ev.Unserved, ev.Refused = "why", true })
		_, id := schedtest.Identity(2)
		if k := b.s.audits.known(id); (k.Known == 0) != (i == 0 || i == credibility.MostRefusals-1) {
			t.Errorf("after %d: %+v", i+1, k)
		}
		b.finish(honest)
		b.restart()
	}
}

// A machine that is at odds with itself accuses nobody, by parts as by whole tasks.
func TestFaultyMachineByParts(t *testing.T) {
	errs := func(ev *message.Audited) {
		if n := len(ev.Passed); n > 0 {
			ev.Passed[0].State[1] ^= 1
			if n == 1 && ev.Here.Outcome == task.Interrupted {
				ev.Here.Trail.Last = ev.Passed[0].State[:]
			}
		}
	}
	for name, tt := range map[string]struct {
		came []func(*message.Audited) // each run; nil is as it should be
		want message.Checks
	}{
		"its compiler errs": {[]func(*message.Audited){errs, nil}, message.Checks{}},
		"it always errs":    {[]func(*message.Audited){errs, errs}, message.Checks{Open: 1}},
		"taken back": {[]func(*message.Audited){func(ev *message.Audited) {
			ev.Here = task.Result{Task: ev.Task, Outcome: task.Interrupted}
		}, nil}, message.Checks{}},
	} {
		b := newAuditBench(t, 1, "30%")
		honest := way{-1}
		b.deliver(0, nil, honest.signs(b, 2, 0))
		for _, came := range tt.came {
			for n := 0; len(b.audits) == 0 && n < 10; n++ {
				b.wait()
			}
			b.answerPart(honest, came)
		}
		b.finish(honest)
		tt.want.Verify = "30%"
		if c := b.checks(); c != tt.want {
			t.Errorf("%s: %+v", name, c)
		}
	}
}

// Trails that cannot be audited by parts are audited as a whole.
func TestNoParts(t *testing.T) {
	for name, change := range map[string]func(*task.Trail){
		"too short": func(tr *task.Trail) {
			tr.Fuel, tr.Boundaries = 5*task.DefaultSpacing, 5
		},
		"boundaries are missing": func(tr *task.Trail) { tr.Boundaries-- },
		"too much work in one":   func(tr *task.Trail) { tr.Fuel += 10 * task.DefaultSpacing },
		"none":                   func(tr *task.Trail) { tr.Boundaries, tr.Root = 0, nil },
	} {
		b := newAuditBench(t, 1, "30%")
		key, _ := schedtest.Identity(2)
		r := way{-1}.signs(b, 2, 0)
		change(r.Trail)
		if err := r.Sign(key); err != nil {
			t.Fatal(err)
		}
		b.deliver(0, nil, r)
		if p := b.s.Parts(b.id, []uint64{0})[0]; p.Of != 0 || len(b.audits) > 0 && b.audits[0].Part != nil {
			t.Errorf("%s: %+v, %+v", name, p, b.audits)
		}
	}
}
