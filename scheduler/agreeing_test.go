package scheduler

import (
	"fmt"
	"strings"
	"testing"

	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// spaced is how far the boundaries of a job lie apart that says nothing else.
const spaced = task.DefaultSpacing

// saidOf is a state of a worker's run from the beginning, whose hash is that of a mark, by those boundaries.
func (s *signing) saidOf(worker int, l message.Lease, at message.Mark, of ...message.Mark) message.Checkpoint {
	s.t.Helper()
	key, _ := schedtest.Identity(worker)
	c := message.Checkpoint{CID: task.RawCID(fmt.Append(nil, worker, at.Fuel)), Fuel: at.Fuel}
	said, boundaries := c.ToVouch(s.task(3), at.State, nil), []task.Boundary(nil)
	for _, m := range of {
		boundaries = append(boundaries, task.Boundary(m))
	}
	said.Pass, said.Boundaries, said.Root = 1, uint32(len(of)), task.TrailRoot(boundaries)
	v, err := task.Vouch(key, l.Receipt, said)
	if err != nil {
		s.t.Fatal(err)
	}
	c.Voucher = v
	return c
}

// agreeingOf is a leader with a job of which so many runs of each task must agree, and workers of task 3.
func agreeingOf(t *testing.T, replicas int, workers ...int) (s *signing, leases map[int]message.Lease) {
	t.Helper()
	s, leases = newSigningOf(t, func(j *task.Job) { j.Replicas = replicas }), map[int]message.Lease{}
	for _, w := range workers {
		if l := s.of(s.worker(w)); l != nil {
			leases[w] = *l
		}
		if leases[w].Task != s.task(3) {
			t.Fatalf("worker %d has no lease of task 3", w)
		}
	}
	return s, leases
}

// TestReplicasAgreeOnAState: where as many replicas as the job asks for came to a state, whichever of them has it,
// another goes on from there once one is lost; who left it answers for nothing that comes of it.
func TestReplicasAgreeOnAState(t *testing.T) {
	at, later := markAt(spaced, 1), markAt(2*spaced, 2)
	for name, tt := range map[string]struct {
		replicas int
		ahead    []message.Mark // of the second replica, which is ahead
		third    message.Mark   // that the third came to at the same fuel, where there is one
		want     bool
	}{
		"two, of two":               {2, []message.Mark{at, later}, at, true},
		"all of three":              {3, []message.Mark{at, later}, at, true},
		"two of three":              {3, []message.Mark{at, later}, markAt(spaced, 9), false},
		"another state there":       {2, []message.Mark{markAt(spaced, 7), later}, at, false},
		"no boundary there":         {2, []message.Mark{later}, at, false},
		"marks that it signed none": {2, nil, at, false},
	} {
		workers := []int{9, 10, 11}[:tt.replicas]
		s, leases := agreeingOf(t, tt.replicas, workers...)
		s.marked(10, leases[10], s.saidOf(10, leases[10], markAt(2*spaced+5, 5), tt.ahead...), at, later)
		if tt.replicas > 2 {
			s.marked(11, leases[11], s.saidOf(11, leases[11], tt.third))
		}
		s.marked(9, leases[9], s.saidOf(9, leases[9], at), at)
		sure := sureState(s.job, 3)
		if (sure != nil) != tt.want {
			t.Errorf("%s: they agree on %+v", name, sure)
			continue
		}
		if !tt.want {
			continue
		}
		if roots := fmt.Sprint(s.c.Roots()); !strings.Contains(roots, string(sure.CID)) {
			t.Errorf("%s: the state may be forgotten", name)
		}
		s.marked(9, leases[9], s.saidOf(9, leases[9], markAt(spaced+5, 3))) // its line goes on alone
		s.leave(10)
		s.report(9, message.Report{Held: []message.Held{{Task: s.task(3), Attempt: leases[9].Attempt, Running: true}}})
		l := s.of(s.worker(12))
		if l == nil || l.From == nil {
			t.Fatalf("%s: twelve gets %+v", name, l)
		}
		// The second's own state is further: its line goes on. Once nobody can go on from that, the agreed one is left.
		if len(l.From.With) > 0 {
			t.Errorf("%s: it goes on from less than the line came to", name)
		}
		s.cannotGoOn(12, l)
		s.leave(12)
		s.report(9, message.Report{Held: []message.Held{{Task: s.task(3), Attempt: leases[9].Attempt, Running: true}}})
		l = s.of(s.worker(13))
		if l == nil || l.From == nil || l.From.CID != sure.CID || len(l.From.With) != tt.replicas-1 ||
			task.VerifyChain(s.task(3), l.From.Chain()) != nil {
			t.Fatalf("%s: thirteen gets %+v", name, l)
		}
		running := s.job.live[3].leases
		last := running[len(running)-1]
		if by := last.answers(); len(by) != 1 || by[0] != last.host.peer {
			t.Errorf("%s: for what comes of it %v answer", name, by)
		}
		s.cannotGoOn(13, l)
		if sureState(s.job, 3) != nil {
			t.Errorf("%s: a state that nobody can go on from is offered again", name)
		}
	}
}

// cannotGoOn has a worker say that it could not go on from the state of its lease.
func (s *signing) cannotGoOn(worker int, l *message.Lease) {
	s.t.Helper()
	key, _ := schedtest.Identity(worker)
	v, err := task.Vouch(key, l.Receipt, task.State{Task: l.Task, CID: l.From.CID, Bad: true})
	if err != nil {
		s.t.Fatal(err)
	}
	s.report(worker, message.Report{Held: []message.Held{{Task: l.Task, Attempt: l.Attempt, Running: true, Bad: v}}})
}

// TestLiarsAgree: workers that say what others agreed on are not believed, neither with a state of their own nor in a
// result; with fewer than the job asks for there is no such state.
func TestLiarsAgree(t *testing.T) {
	s, leases := agreeingOf(t, 3, 9, 10, 11)
	lie := markAt(spaced, 6)
	nine, ten := s.saidOf(9, leases[9], lie), s.saidOf(10, leases[10], lie)
	s.marked(9, leases[9], nine)
	s.marked(10, leases[10], ten)
	s.marked(11, leases[11], s.saidOf(11, leases[11], markAt(spaced, 1)))
	if sure := sureState(s.job, 3); sure != nil {
		t.Fatalf("two liars of three replicas agree on %+v", sure)
	}
	told := nine
	if told.Fuel++; s.c.vouched(s.task(3), &told, "") == nil {
		t.Error("a state of more work is believed")
	}
	told = nine
	told.With = []task.Witness{*task.Witnessed(ten.Chain(), nil, task.Boundary(lie))}
	if s.c.vouched(s.task(3), &told, "") == nil {
		t.Error("a worker's word on who agreed with it is believed")
	}
	chain := told.Chain()
	if err := task.VerifyChain(s.task(3), chain); err != nil || task.CheckAgreed(s.job.spec, chain) == nil {
		t.Errorf("two of three are enough: %v", err)
	}
	_, twelve := schedtest.Identity(12)
	r := task.Result{Task: s.task(3), Worker: twelve, Outcome: task.Completed,
		Trail: &task.Trail{Pass: 1, Fuel: 9 * spaced, Began: chain}}
	if err := verifyResult(&r, s.job.spec, false, nil); err == nil || s.job.spec.CheckResult(&r) == nil {
		t.Error("a result that went on from what too few agreed on counts")
	}
}

// TestReplicasPartAfterTheyAgreed: one that begins since two parted goes on from what they agreed on before, not from
// the beginning; a line that this node found wrong vouches for nothing after that.
func TestReplicasPartAfterTheyAgreed(t *testing.T) {
	s, leases := agreeingOf(t, 2, 9, 10)
	at := markAt(spaced, 1)
	s.marked(10, leases[10], s.saidOf(10, leases[10], markAt(spaced+5, 5), at), at)
	s.marked(9, leases[9], s.saidOf(9, leases[9], at), at)
	s.marked(9, leases[9], s.saidOf(9, leases[9], markAt(2*spaced+3, 7), at, markAt(2*spaced, 2)), markAt(2*spaced, 2))
	s.marked(10, leases[10], s.saidOf(10, leases[10], markAt(2*spaced+4, 8), at, markAt(2*spaced, 3)), markAt(2*spaced, 3))
	l := s.of(s.worker(11))
	if l == nil || l.From == nil || l.From.Fuel != spaced || len(l.From.With) != 1 {
		t.Fatalf("eleven gets %+v", l)
	}
	if why := fmt.Sprint(s.c.Why(s.job.id, 3)); !strings.Contains(why, "two states") {
		t.Errorf("people are told %s", why)
	}
	_, nine := schedtest.Identity(9)
	s.job.meetings[3].wrong = []task.PeerID{nine}
	for _, st := range s.job.ledger.Rows[3].LineStates() {
		for _, w := range s.c.reports.witnesses(s.job, 3, st) {
			if w.Chain[0].Voucher.Worker == nine {
				t.Error("a line that is wrong vouches")
			}
		}
	}
}
