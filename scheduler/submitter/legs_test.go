package submitter

import (
	"crypto/ed25519"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// A moved run is a way of three workers: points in order of fuel are boundaries and, half between two of them, the
// states in which the legs ended. In the interval lie, if that is not below 0, it went wrong.
type movedRun struct {
	way
	lie     int
	workers [3]int // by leg: the last first
	stayed  bool   // the last of them ran all of it, in one leg
}

const (
	movedParts = 22 // of 19 boundaries, two moves and the end
	firstMove  = 6  // the interval in which the first leg ended, and the second
	secondMove = 14
)

// fuelOf is that at which an interval ends.
func fuelOf(k int) uint64 {
	const s = task.DefaultSpacing
	switch {
	case k < firstMove:
		return uint64(k+1)*s + 7
	case k == firstMove:
		return uint64(k)*s + s/2
	case k < secondMove:
		return uint64(k)*s + 7
	case k == secondMove:
		return uint64(k-1)*s + s/2
	case k < movedParts-1:
		return uint64(k-1)*s + 7
	}
	return parts*s - 1
}

// span is the first interval of a leg, and the last.
func (m movedRun) span(leg int) (first, last int) {
	if m.stayed {
		return 0, movedParts - 1
	}
	return []int{secondMove + 1, firstMove + 1, 0}[leg], []int{movedParts - 1, secondMove, firstMove}[leg]
}

func legOf(k int) int {
	switch {
	case k <= firstMove:
		return 2
	case k <= secondMove:
		return 1
	}
	return 0
}

// states are those after each interval, of a run from a state before one of them.
func (m movedRun) states(from [32]byte, first, last int) (out [][32]byte) {
	for k := first; k <= last; k++ {
		from = way{m.lie}.after(from, k)
		out = append(out, from)
	}
	return out
}

// boundaries are those of a leg, or of all for 3.
func (m movedRun) boundaries(leg int) (of []task.Boundary) {
	all := m.states([32]byte{}, 0, movedParts-1)
	for k := range movedParts - 1 {
		if k != firstMove && k != secondMove && (leg == 3 || m.stayed || legOf(k) == leg) {
			of = append(of, task.Boundary{Fuel: fuelOf(k), State: all[k]})
		}
	}
	return of
}

// signs is the result, and what each worker said of what it left.
func (m movedRun) signs(b *auditBench, i uint64) task.Result {
	all := m.states([32]byte{}, 0, movedParts-1)
	var chain []task.Link
	for _, leg := range map[bool][]int{false: {2, 1}}[m.stayed] {
		_, last := m.span(leg)
		of, key := m.boundaries(leg), identity(m.workers[leg])
		s := task.State{Task: b.task(i), Fuel: fuelOf(last), Hash: all[last][:], Prior: task.PriorOf(chain),
			Engine: "amd64", Pass: 1, Boundaries: uint32(len(of)), Root: task.TrailRoot(of)}
		v, err := task.Vouch(key, leaseOf(b.tb, s.Task, m.workers[leg]), s)
		if err != nil {
			b.tb.Fatal(err)
		}
		chain = task.ChainOn(task.Link{Fuel: s.Fuel, Voucher: *v}, chain)
	}
	key, _ := schedtest.Identity(m.workers[0])
	r := b.ended(key, b.task(i), m.boundaries(0), all[movedParts-1])
	r.Receipt, r.Trail.Began, r.Wall, r.CPU = leaseOf(b.tb, r.Task, m.workers[0]), chain, time.Second, time.Second
	if err := r.Sign(key); err != nil {
		b.tb.Fatal(err)
	}
	return r
}

// leaseOf is what a leader signs who gives a worker a task.
func leaseOf(tb testing.TB, id task.TaskID, worker int) *task.Receipt {
	leader := identity(itsLeader)
	r, err := task.NewReceipt(leader, peerOf(itsLeader), id, peerOf(worker), task.Receipt{Epoch: 1, Seq: id.Index})
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

func identity(worker int) ed25519.PrivateKey {
	key, _ := schedtest.Identity(worker)
	return key
}

// keptBy is what the worker of a leg says that it kept.
func (m movedRun) keptBy(leg int) *task.KeptStates {
	k := &task.KeptStates{}
	for _, b := range m.boundaries(leg) {
		k.States = append(k.States, task.KeptState{Fuel: b.Fuel, Hash: b.State[:], CID: task.RawCID(b.State[:])})
	}
	return k
}

// answerMoved has the machine run what it is to, honestly, from what the workers served.
func (b *auditBench) answerMoved(m movedRun) { b.do(b.comesOf(m)) }

// comesOf is what comes of the next that it is to run.
func (b *auditBench) comesOf(m movedRun) message.Audited {
	a := b.audits[0]
	b.audits = b.audits[1:]
	held, err := DecodeSummary(b.disk[ResultKey(a.Task.Job, a.Task.Index)])
	if err != nil {
		b.tb.Fatal(err)
	}
	honest := movedRun{lie: -1}
	ev := message.Audited{Task: a.Task, Interpreted: a.Interpreted, StopAt: a.StopAt, Held: held}
	first, last, state := 0, movedParts-1, [32]byte{}
	if p := a.Part; p != nil {
		part, of := *p, m.boundaries(p.Leg)
		if part.States = m.keptBy(p.Leg); p.Seek != nil {
			for part.First = 0; part.First < len(of) && slices.Contains(p.Seek, of[part.First]); {
				part.First++
			}
			part.Last = part.First
		}
		ev.Part = &part
		begins, _ := m.span(p.Leg)
		first, last = m.intervals(p.Leg, begins, part.First, part.Last)
		if part.First == 0 && begins > 0 {
			if p.Seek != nil { // the state that the leg went on from was never stored
				ev.Unserved, ev.Here = "nobody says where the state is", task.Result{Task: a.Task, Outcome: task.Interrupted}
				return ev
			}
			first-- // from the last boundary of the leg before
		}
		if first > 0 {
			state = m.states([32]byte{}, 0, first-1)[first-1]
		}
	}
	for k := first; a.StopAt > 0 && k <= last; k++ {
		if fuelOf(k) == a.StopAt {
			last = k
		}
	}
	came := honest.states(state, first, last)
	for k := first; k <= last && k < movedParts-1; k++ {
		if k != firstMove && k != secondMove {
			ev.Passed = append(ev.Passed, task.Boundary{Fuel: fuelOf(k), State: came[k-first]})
		}
	}
	end := came[len(came)-1]
	if ev.Here = (task.Result{Task: a.Task, Outcome: task.Interrupted, Trail: &task.Trail{Pass: 1, Fuel: fuelOf(last),
		Last: end[:], Engine: "amd64"}}); last == movedParts-1 {
		ev.Here = b.ended(b.key, a.Task, honest.boundaries(3), end)
	}
	return ev
}

// intervals are the first and the last of all, of a part of a leg that begins with one of them.
func (m movedRun) intervals(leg, begins, first, last int) (from, to int) {
	if !m.stayed {
		return begins + first, begins + last
	}
	at := func(k int) int { // that which ends at a boundary
		for n := range movedParts {
			if of := m.boundaries(leg); k < len(of) && fuelOf(n) == of[k].Fuel {
				return n
			}
		}
		return movedParts - 1
	}
	if first > 0 {
		from = at(first-1) + 1
	}
	return from, at(last)
}

// Parts of all that a task's workers ran are drawn, and each counts for who ran it; all may forget their states
// then, and nothing is lost with a restart in between.
func TestLegsAreRight(t *testing.T) {
	b := newAuditBench(t, 1, "50%")
	m := movedRun{lie: -1, workers: [3]int{2, 3, 4}}
	b.deliver(0, nil, m.signs(b, 0))
	d := b.s.jobs[b.id].checks.drawn[0]
	b.audits = nil
	b.restart()
	b.look()
	if got := b.s.jobs[b.id].checks.drawn[0]; d.of != movedParts || !slices.Equal(d.legs, []int{7, 8, 7}) ||
		got.count() != d.count() || !slices.Equal(got.legs, d.legs) {
		t.Fatalf("drawn %+v, after a restart %+v", d, got)
	}
	released := map[task.PeerID]bool{}
	for len(b.audits) > 0 {
		b.answerMoved(m)
		for _, e := range b.last {
			if r, is := e.(message.Released); is {
				released[r.Worker] = true
			}
		}
	}
	if c := b.allChecks(); c.Accepted != 1 || c.Due+c.Open+c.Wrong != 0 || len(released) != 3 {
		t.Errorf("%+v, released %v", c, released)
	}
	all := 0.0
	for leg, w := range m.workers {
		_, worker := schedtest.Identity(w)
		known := b.s.audits.known(worker).Known
		if want := float64(d.inLeg(leg)) / movedParts; known < want-1e-9 || known > want+1e-9 {
			t.Errorf("leg %d: %g is known, want %g", leg, known, want)
		}
		all += known
	}
	if all < .4 || all > .6 {
		t.Errorf("%g of the task is known", all)
	}
}

// A wrong interval is found where it is drawn, whoever ran it, and its worker named, and no other; others see it by
// that part alone where the state before it is kept.
func TestLegIsWrong(t *testing.T) {
	found := 0
	rapid.Check(t, func(rt *rapid.T) {
		b := newAuditBench(t, 1, rapid.SampledFrom([]string{"20%", "50%", "90%"}).Draw(rt, "verify"))
		m := movedRun{lie: rapid.IntRange(0, movedParts-1).Draw(rt, "lie"), workers: [3]int{2, 3, 4}}
		b.deliver(0, nil, m.signs(b, 0))
		d := b.s.jobs[b.id].checks.drawn[0]
		for n := 0; len(b.audits) > 0; n++ {
			if n > 200 {
				rt.Fatal("it never ends")
			}
			b.answerMoved(m)
		}
		next := m.lie == firstMove || m.lie == secondMove // the interval after it runs from before it
		caught := d.which.Contains(uint64(m.lie)) || next && d.which.Contains(uint64(m.lie+1))
		c := b.checks()
		if caught != (c.Wrong == 1) || c.Due+c.Open != 0 {
			rt.Fatalf("drawn %v: %+v", d.which, c)
		}
		if !caught {
			return
		}
		found++
		_, by := schedtest.Identity(m.workers[legOf(m.lie)])
		w := b.held(0).Refuted
		if w == nil || w.By != by {
			rt.Fatalf("wrong in %d of leg %d: %+v", m.lie, legOf(m.lie), w)
		}
		for leg, k := range m.workers {
			if _, other := schedtest.Identity(k); (b.s.audits.known(other).Faults > 0) != (leg == legOf(m.lie)) {
				rt.Fatalf("wrong in %d, and of leg %d is known %+v", m.lie, leg, b.s.audits.known(other))
			}
		}
		first, _ := m.span(legOf(m.lie))
		if first == m.lie && first > 0 {
			return // from a state that nobody has
		}
		if w.Proof == nil {
			rt.Fatalf("wrong in %d, and no proof: %s", m.lie, w.Why)
		}
		s, err := w.Result.Segment(w.Proof, task.DefaultSpacing)
		if err != nil || s.By != by || s.To != fuelOf(m.lie) || m.lie > 0 && (s.From != fuelOf(m.lie-1) || s.State == "") {
			rt.Fatalf("wrong in %d: %+v, %v", m.lie, s, err)
		}
	})
	if found == 0 {
		t.Error("nothing was found: it tests little")
	}
}

// What went on from a state of a worker that was found wrong elsewhere is in doubt, before it is checked or after.
func TestLegsOfTheWrong(t *testing.T) {
	for _, leg := range []int{0, 1, 2} {
		for _, before := range []bool{true, false} {
			b := newAuditBench(t, 1, "5%")
			m := movedRun{lie: -1, workers: [3]int{2, 3, 4}}
			_, worker := schedtest.Identity(m.workers[leg])
			if before {
				b.s.audits.credit(worker).Faults++
			}
			b.deliver(0, nil, m.signs(b, 0))
			if !before {
				for len(b.audits) > 0 {
					b.answerMoved(m)
				}
				if b.allChecks().Accepted != 1 {
					t.Fatalf("%+v", b.allChecks())
				}
				b.restart()
				b.do(message.Proven{Task: b.task(0), Worker: worker, Why: fmt.Sprint("leg ", leg)})
			}
			j := b.s.jobs[b.id]
			if c := b.allChecks(); c.Accepted != 0 || j.have.Contains(0) && c.Doubted == 0 && j.checks.back[0] == 0 {
				t.Errorf("leg %d, before %v: %+v", leg, before, c)
			}
		}
	}
}
