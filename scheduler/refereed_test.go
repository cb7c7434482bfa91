package scheduler

import (
	"fmt"
	"strings"
	"testing"

	"godwit/overlay"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

func markAt(fuel uint64, state byte) message.Mark {
	return message.Mark{Fuel: fuel, State: [32]byte{state}}
}

// marked has a worker tell of a checkpoint and boundaries, and returns the audit that follows; nil for none.
func (s *signing) marked(worker int, l message.Lease, c message.Checkpoint, marks ...message.Mark) *message.Audit {
	return s.reported(worker, l, c, "", marks)
}

// reported is marked; with a failure the checkpoint cannot be fetched.
func (s *signing) reported(worker int, l message.Lease, c message.Checkpoint, failure string, marks []message.Mark,
) (a *message.Audit) {
	_, peer := schedtest.Identity(worker)
	for _, e := range s.c.Step(s.now, &message.Received{From: peer, Message: &message.Message{Report: &message.Report{
		Epoch: 7, Slots: 4, State: uint8(overlay.Available),
		Held:  []message.Held{{Task: l.Task, Attempt: l.Attempt, Running: true}},
		Saved: []message.SavedState{{Task: l.Task, Attempt: l.Attempt, Marks: marks, Checkpoint: c}}}}}) {
		switch e := e.(type) {
		case message.Audit:
			a = &e
		case message.Fetch:
			s.c.Step(s.now, message.Fetched{Key: e.Key, Err: failure})
		}
	}
	return a
}

// parted are two replicas that came to one state at 10, and to two at 20.
func parted(t *testing.T) (s *signing, leases map[int]message.Lease, a *message.Audit) {
	s, leases = newReplicas(t, 9, 10)
	nine := func(fuel uint64) message.Checkpoint {
		return s.vouched(9, leases[9].Receipt, s.task(3), fmt.Sprint("nine ", fuel), fuel)
	}
	s.marked(9, leases[9], nine(8), markAt(5, 1))
	s.marked(10, leases[10], s.vouched(10, leases[10].Receipt, s.task(3), "ten", 13), markAt(5, 1), markAt(10, 2))
	s.marked(9, leases[9], nine(12), markAt(10, 2))
	if r := s.job.ledger.Rows[3]; len(r.LineStates()) != 2 {
		t.Fatalf("the row has %d states", len(r.LineStates()))
	}
	if a := s.marked(10, leases[10], s.vouched(10, leases[10].Receipt, s.task(3), "ten", 25), markAt(20, 3)); a != nil {
		t.Fatalf("before they part %+v is run", a)
	}
	return s, leases, s.marked(9, leases[9], nine(24), markAt(20, 4))
}

// TestReferee: the part in which two replicas parted is run here, and the one that comes to something else is given
// up: nobody goes on from its state. Where this node comes to a third state, or to none, all go on.
func TestReferee(t *testing.T) {
	for name, tt := range map[string]struct {
		state byte
		fails bool
		wrong []int
	}{
		"nine is wrong":         {3, false, []int{9}},
		"ten is":                {4, false, []int{10}},
		"this node errs":        {7, false, nil},
		"it cannot be run here": {3, true, nil},
	} {
		s, leases, a := parted(t)
		if a == nil || a.StopAt != 20 || a.Task != s.task(3) || a.Part != nil || a.Most != refereeMost {
			t.Fatalf("%s: %+v is run", name, a)
		}
		state := make([]byte, 32)
		state[0] = tt.state
		ev := message.Audited{Task: a.Task, StopAt: a.StopAt, Here: task.Result{Task: a.Task, Outcome: task.Interrupted,
			Trail: &task.Trail{Pass: 1, Fuel: 20, Last: state}}}
		if tt.fails {
			ev.Here.Trail, ev.Unserved = nil, "nobody has it"
		}
		other := ev
		other.StopAt = 21
		s.c.Step(s.now, other) // another's answer
		s.c.Step(s.now, ev)
		s.c.Step(s.now, ev)
		why := fmt.Sprint(s.c.Why(s.job.id, 3))
		for _, w := range []int{9, 10} {
			_, peer := schedtest.Identity(w)
			wrong := len(tt.wrong) > 0 && tt.wrong[0] == w
			held := false
			for _, l := range s.job.live[3].leases {
				held = held || l.host.peer == peer
			}
			if told := strings.Contains(why, "begun by "+string(peer)+" is wrong"); held == wrong || told != wrong {
				t.Errorf("%s: worker %d runs it: %v; people are told %s", name, w, held, why)
			}
		}
		if len(tt.wrong) == 0 {
			continue
		}
		if n := s.job.wants(3); n != 1 {
			t.Errorf("%s: %d more are wanted", name, n)
		}
		right := 19 - tt.wrong[0]
		s.leave(tt.wrong[0])
		still := message.Held{Task: s.task(3), Attempt: leases[right].Attempt, Running: true}
		s.report(right, message.Report{Held: []message.Held{still}})
		if l := s.of(s.worker(11)); l == nil || l.From != nil {
			t.Errorf("%s: another gets %+v, want a run from the beginning", name, l)
		}
	}
}

// TestRefereeBegins: the part begins with the furthest state that lies before the lines parted; one part is run at a
// time, and another where that is not answered.
func TestRefereeBegins(t *testing.T) {
	s, leases, a := parted(t)
	if a.From != nil { // the newest states of both lie beyond 10
		t.Errorf("it begins with %+v", a.From)
	}
	if a := s.marked(9, leases[9], s.vouched(9, leases[9].Receipt, s.task(3), "later", 35), markAt(30, 9)); a != nil {
		t.Errorf("they part once more: %+v", a)
	}
	s, leases = newReplicas(t, 9, 10)
	good := s.vouched(9, leases[9].Receipt, s.task(3), "good", 8)
	s.marked(9, leases[9], good, markAt(5, 1), markAt(10, 2))
	s.marked(10, leases[10], s.vouched(10, leases[10].Receipt, s.task(3), "ten", 9), markAt(10, 2), markAt(20, 3))
	if a = s.marked(9, leases[9], s.vouched(9, leases[9].Receipt, s.task(3), "x", 21), markAt(20, 4)); a == nil ||
		a.From == nil || a.From.Fuel != 9 || len(a.From.Hash) != 32 || len(a.From.Holders) != 1 {
		t.Fatalf("it is %+v", a)
	}
	s.c.reports.judging.since = s.now.Add(-refereeWait)
	s.job.meetings[3].parted = nil
	if a := s.marked(10, leases[10], s.vouched(10, leases[10].Receipt, s.task(3), "y", 31), markAt(20, 5)); a == nil {
		t.Error("what is never answered keeps others from being judged")
	}
	s.job.meetings[3].parted, s.c.reports.judging = nil, nil
	far := uint64(refereeFuel) + 100
	s.marked(9, leases[9], s.vouched(9, leases[9].Receipt, s.task(3), "z", far+1), markAt(far, 1))
	if a := s.marked(10, leases[10], s.vouched(10, leases[10].Receipt, s.task(3), "z", far+1), markAt(far, 2)); a != nil {
		t.Errorf("it would take too long: %+v", a)
	}
}

// What the leader's node found wrong on the way is shown to others by the first state beyond, as it was vouched for.
func TestReplicaIsAccused(t *testing.T) {
	s, _, a := parted(t)
	state := [32]byte{3} // as ten came to
	var told []message.Accuse
	for _, e := range s.c.Step(s.now, message.Audited{Task: a.Task, StopAt: a.StopAt, Here: task.Result{Task: a.Task,
		Outcome: task.Interrupted, Trail: &task.Trail{Pass: 1, Fuel: 20, Last: state[:]}}}) {
		if e, ok := e.(message.Accuse); ok {
			told = append(told, e)
		}
	}
	_, nine := schedtest.Identity(9)
	if len(told) != 1 || told[0].Task != s.task(3) || told[0].Record.ID() != s.job.id || len(told[0].Chain) != 1 {
		t.Fatalf("%+v", told)
	}
	l := &told[0].Chain[0]
	if err := task.VerifyChain(s.task(3), told[0].Chain); err != nil || l.Voucher.Worker != nine || l.Fuel != 24 {
		t.Errorf("shown is a state of %s at %d: %v", l.Voucher.Worker, l.Fuel, err)
	}
}
