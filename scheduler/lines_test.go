package scheduler

import (
	"slices"
	"strings"
	"testing"
	"time"

	"godwit/overlay"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// newReplicas is a leader that signs, with a job of which two runs of each task must agree, and
// workers that have a lease of its task 3 each.
func newReplicas(t *testing.T, workers ...int) (s *signing, leases map[int]message.Lease) {
	t.Helper()
	s, leases = newSigningOf(t, func(j *task.Job) { j.Replicas = 2 }), map[int]message.Lease{}
	for _, w := range workers {
		for _, l := range s.worker(w) {
			if l.Task == s.task(3) {
				leases[w] = l
			}
		}
		if leases[w].Task != s.task(3) {
			t.Fatalf("worker %d has no lease of task 3", w)
		}
	}
	return s, leases
}

// leave has a worker be lost.
func (s *signing) leave(worker int) {
	_, peer := schedtest.Identity(worker)
	s.c.Step(s.now, message.MemberLost{Peer: peer, Reason: "connection reset"})
	s.c.Step(s.now.Add(time.Minute), message.Wake{})
	s.now = s.now.Add(time.Minute)
}

// of returns the lease of task 3 among some, nil for none.
func (s *signing) of(leases []message.Lease) *message.Lease {
	for k := range leases {
		if leases[k].Task == s.task(3) {
			return &leases[k]
		}
	}
	return nil
}

// TestReplicasGoOnApart: when a replica's worker is lost another goes on from its state; nobody
// gets the state of a replica that runs, nor goes on from a state and answers for the other.
func TestReplicasGoOnApart(t *testing.T) {
	s, leases := newReplicas(t, 9, 10)
	s.saves(9, leases[9], s.vouched(9, leases[9].Receipt, s.task(3), "of nine", 1000))
	s.saves(10, leases[10], s.vouched(10, leases[10].Receipt, s.task(3), "of ten", 2000))
	if states := s.job.ledger.Rows[3].LineStates(); len(states) != 2 {
		t.Fatalf("the row has %d states, want two", len(states))
	}
	if n := s.job.wants(3); n != 0 {
		t.Fatalf("with two leases %d more are wanted", n)
	}
	s.leave(9)
	s.report(10, message.Report{Held: []message.Held{{Task: s.task(3), Attempt: leases[10].Attempt, Running: true}}})
	l := s.of(s.worker(11))
	if l == nil || l.From == nil || l.From.CID != task.RawCID([]byte("of nine")) || l.Receipt.From != l.From.CID {
		t.Fatalf("after the loss of nine eleven gets %+v", l)
	}
	if by := s.job.live[3].leases; len(by) != 2 || len(by[1].answers()) != 2 {
		t.Fatalf("there are %d leases, for the last answer %v", len(by), by[len(by)-1].answers())
	}
	_, nine := schedtest.Identity(9)
	if by := s.job.live[3].leases; !by[0].barred(nine) || by[1].barred(nine) || !by[1].barred(by[0].host.peer) {
		t.Error("ten's run may move to nine, which answers for eleven's, or eleven's may not")
	}
	// Ten's worker is lost as well: nine comes back, and may not go on from ten's state.
	s.leave(10)
	s.report(11, message.Report{Held: []message.Held{{Task: s.task(3), Attempt: l.Attempt, Running: true}}})
	if l := s.of(s.worker(9)); l == nil || l.From != nil {
		t.Errorf("nine, the only one there is, gets %+v, want a run from the beginning", l)
	}
	if n := s.job.wants(3); n != 1 {
		t.Errorf("%d more runs are wanted, want one: nine answers for both", n)
	}
	if l := s.of(s.worker(10)); l == nil || l.From == nil || l.From.CID != task.RawCID([]byte("of ten")) {
		t.Errorf("ten, which is back, gets %+v, want to go on from its own state", l)
	}
}

// TestFailuresOfManyWorkers: where a run of a replica failed others run it next, and the same worker
// only if there is nobody else.
func TestFailuresOfManyWorkers(t *testing.T) {
	s, leases := newReplicas(t, 9, 10)
	fail := func(worker int, l message.Lease) {
		key, _ := schedtest.Identity(worker)
		r := task.Result{Task: l.Task, Outcome: task.Trapped, Message: "unreachable", Receipt: l.Receipt}
		if err := r.Sign(key); err != nil {
			t.Fatal(err)
		}
		s.report(worker, message.Report{Ended: []message.Ending{{Attempt: l.Attempt, Result: r}}})
	}
	_, eleven := schedtest.Identity(11)
	s.c.Step(s.now, message.MemberSeen{Advert: overlay.Advert{Peer: eleven, State: overlay.Available, Slots: 4,
		Memory: 1 << 30, Speed: .1}}) // who would be the last to get it
	if l := s.of(s.report(11, message.Report{})); l != nil {
		t.Fatalf("a third worker gets %+v", l)
	}
	fail(9, leases[9])
	if by := s.job.live[3].leases; len(by) != 2 || by[1].host.peer != eleven {
		t.Errorf("after a failure at nine it runs at %d workers, want eleven among them", len(by))
	}
}

// TestStatesOfOthersLines: a worker cannot have its own state in the place of another line's.
func TestStatesOfOthersLines(t *testing.T) {
	s, leases := newReplicas(t, 9, 66)
	honest := s.vouched(9, leases[9].Receipt, s.task(3), "honest", 1000)
	s.saves(9, leases[9], honest)
	key, _ := schedtest.Identity(66)
	lie := message.Checkpoint{CID: task.RawCID([]byte("a lie")), Fuel: 5000, Before: honest.Chain()}
	v, err := task.Vouch(key, leases[66].Receipt, lie.ToVouch(s.task(3), [32]byte{}, honest.Chain()))
	if err != nil {
		t.Fatal(err)
	}
	lie.Voucher = v
	s.saves(66, leases[66], lie)
	forged := lie
	forged.Before = slices.Clone(honest.Chain())
	forged.Before[0].Voucher.Signature = make([]byte, 64)
	s.saves(66, leases[66], forged)
	if states := s.job.ledger.Rows[3].LineStates(); len(states) != 1 || states[0].CID != honest.CID {
		t.Errorf("the row has %+v", states)
	}
}

// TestReplicasPart: where two replicas tell of two states at one fuel another runs at once, and
// people read why; where they are equal, or tell of other fuels, none does.
func TestReplicasPart(t *testing.T) {
	mark := func(fuel uint64, state byte) message.Mark { return message.Mark{Fuel: fuel, State: [32]byte{state}} }
	for name, tt := range map[string]struct {
		nine, ten []message.Mark
		parted    bool
	}{
		"none":            {nil, nil, false},
		"equal":           {[]message.Mark{mark(10, 1), mark(20, 2)}, []message.Mark{mark(10, 1), mark(20, 2)}, false},
		"one is ahead":    {[]message.Mark{mark(10, 1), mark(20, 2), mark(30, 3)}, []message.Mark{mark(10, 1)}, false},
		"they never meet": {[]message.Mark{mark(10, 1)}, []message.Mark{mark(15, 2)}, false},
		"apart":           {[]message.Mark{mark(10, 1)}, []message.Mark{mark(10, 2)}, true},
		"apart after that": {[]message.Mark{mark(10, 1), mark(20, 2), mark(30, 3)},
			[]message.Mark{mark(10, 1), mark(20, 9)}, true},
	} {
		s, leases := newReplicas(t, 9, 10)
		for w, marks := range map[int][]message.Mark{9: tt.nine, 10: tt.ten} {
			s.report(w, message.Report{Held: []message.Held{{Task: s.task(3), Attempt: leases[w].Attempt, Running: true}},
				Saved: []message.SavedState{{Task: s.task(3), Attempt: leases[w].Attempt, Marks: marks,
					Checkpoint: s.vouched(w, leases[w].Receipt, s.task(3), "x", uint64(100+w))}}})
		}
		told := slices.ContainsFunc(s.c.Why(s.job.id, 3), func(w Why) bool {
			return strings.Contains(w.Reason, "two states")
		})
		l := s.of(s.worker(11))
		if told != tt.parted || (l != nil) != tt.parted || l != nil && l.From != nil {
			t.Errorf("%s: told %v, another runs %+v; want %v", name, told, l, tt.parted)
		}
	}
}
