package scheduler

import (
	"slices"
	"testing"
	"time"

	"godwit/overlay"
	"godwit/scheduler/message"
	"godwit/scheduler/replication"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// ledTest is a coordinator with one follower, whose messages wait until the test
// lets them pass.
type ledTest struct {
	t        *testing.T
	now      time.Time
	c        *Coordinator
	r        *Replica
	toR, toC []message.Message
	fetches  []string // of the follower
	sent     map[string]int
	leases   []message.Lease
}

func newLedTest(t *testing.T) *ledTest {
	_, self := schedtest.Identity(0)
	_, second := schedtest.Identity(2)
	l := &ledTest{t: t, now: schedtest.Start, c: NewCoordinator(self, Default(), 7), r: NewReplica(second, Default()),
		sent: map[string]int{}}
	l.follower(message.LeaderChanged{Leader: self, Epoch: 7})
	l.leader(message.GroupIs{Followers: []task.PeerID{second}})
	l.settle()
	if !l.inSync(second) {
		t.Fatal("the follower is not in sync")
	}
	return l
}

// inSync reports whether a follower is in sync, and in no session before this one.
func (l *ledTest) inSync(peer task.PeerID) bool {
	k := slices.IndexFunc(l.c.Followers(), func(f FollowerStatus) bool { return f.Peer == peer })
	return k >= 0 && l.c.Followers()[k].InSync && !l.c.Followers()[k].Rejoining
}

func (l *ledTest) leader(ev message.Event) {
	for _, e := range l.c.Step(l.now, ev) {
		switch e := e.(type) {
		case message.Fetch:
			l.leader(message.Fetched{Key: e.Key})
		case message.Send:
			m := e.Message
			switch {
			case e.To == l.r.self && (m.Copy != nil || m.Wanted != nil):
				l.toR = append(l.toR, m)
			case m.Accepted != nil:
				l.sent["accepted"]++
			case m.Ack != nil:
				l.sent["acks"]++
				l.sent["ended"] += len(m.Ack.Ended)
			case m.Place != nil:
				l.leases = append(l.leases, m.Place.Leases...)
			}
		}
	}
}

func (l *ledTest) follower(ev message.Event) {
	for _, e := range l.r.Step(l.now, ev) {
		switch e := e.(type) {
		case message.Fetch:
			l.fetches = append(l.fetches, e.Key)
		case message.Send:
			l.toC = append(l.toC, e.Message)
		}
	}
}

// settle lets messages between the two pass until there are none.
func (l *ledTest) settle() {
	for len(l.toR)+len(l.toC) > 0 {
		toR, toC := l.toR, l.toC
		l.toR, l.toC = nil, nil
		for _, m := range toR {
			l.follower(&message.Received{From: l.c.self, Message: &m})
		}
		for _, m := range toC {
			l.leader(&message.Received{From: l.r.self, Message: &m})
		}
	}
}

func (l *ledTest) want(what string, n int) {
	l.t.Helper()
	if l.sent[what] != n {
		l.t.Fatalf("%d %s were sent, want %d", l.sent[what], what, n)
	}
}

// fetched answers the follower's fetches.
func (l *ledTest) fetched(err string) {
	keys := l.fetches
	l.fetches = nil
	for _, k := range keys {
		l.follower(message.Fetched{Key: k, Err: err})
	}
}

// TestPromisesWait: a job is accepted when the second coordinator has its record
// and its blocks, and a result is acknowledged when it has both too. What
// promises nothing is said at once.
func TestPromisesWait(t *testing.T) {
	l := newLedTest(t)
	key, owner := schedtest.Identity(1)
	workerKey, worker := schedtest.Identity(3)
	l.leader(message.MemberSeen{Advert: overlay.Advert{Peer: worker, Memory: 1 << 40, Speed: 1}})
	hello := &message.Received{From: worker, Message: &message.Message{Report: &message.Report{Slots: 2, Full: true}}}
	l.leader(hello)
	l.want("acks", 1)
	rec := schedtest.Job(t, key, 2, nil)
	l.leader(&message.Received{From: owner, Message: &message.Message{Submit: &message.Submit{Record: rec}}})
	l.want("accepted", 0)
	l.settle()
	l.want("accepted", 0) // the record is there, the blocks are not
	l.fetched("")
	l.settle()
	l.want("accepted", 1)

	end := func(lease message.Lease, out task.Output) {
		r := task.Result{Task: lease.Task, Outcome: task.Completed, Outputs: []task.Output{out}}
		if err := r.Sign(workerKey); err != nil {
			t.Fatal(err)
		}
		l.leader(&message.Received{From: worker,
			Message: &message.Message{Report: &message.Report{Slots: 2,
				Ended: []message.Ending{{Attempt: lease.Attempt, Result: r}}}}})
	}
	small, large := outputOf(task.TaskID{Index: 0}), outputOf(task.TaskID{Index: 1})
	end(l.leases[0], small)
	l.leader(hello)
	l.want("acks", 2)
	l.want("ended", 0)
	l.settle()
	l.want("ended", 1)
	end(l.leases[1], large)
	l.settle()
	end(l.leases[1], large) // the worker repeats itself
	l.settle()
	l.want("ended", 1)
	l.fetched("")
	l.settle()
	l.want("ended", 2)
	if l.r.Digest() != l.c.Digest() {
		t.Error("the copies differ")
	}
}

// TestPromisesGoOn: a follower that is not heard of, or cannot fetch, or is no
// longer of the group, holds nothing up.
func TestPromisesGoOn(t *testing.T) {
	_, second := schedtest.Identity(2)
	for name, what := range map[string]func(l *ledTest){
		"suspected": func(l *ledTest) { l.leader(message.Suspected{Peer: second}) },
		"lost":      func(l *ledTest) { l.leader(message.MemberLost{Peer: second}) },
		"dropped":   func(l *ledTest) { l.leader(message.GroupIs{}) },
		"no block":  func(l *ledTest) { l.settle(); l.fetched("gone"); l.settle() },
	} {
		t.Run(name, func(t *testing.T) {
			l := newLedTest(t)
			key, owner := schedtest.Identity(1)
			l.leader(&message.Received{From: owner,
				Message: &message.Message{Submit: &message.Submit{Record: schedtest.Job(t, key, 2, nil)}}})
			l.want("accepted", 0)
			what(l)
			l.want("accepted", 1)
		})
	}
}

// TestSilentFollowerComesBack: what it missed is brought, and then it is waited
// for again; copies that were lost are sent again.
func TestSilentFollowerComesBack(t *testing.T) {
	l := newLedTest(t)
	key, owner := schedtest.Identity(1)
	l.leader(message.Suspected{Peer: l.r.self})
	l.leader(&message.Received{From: owner, Message: &message.Message{Submit: &message.Submit{Record: schedtest.Job(t, key,
		2, nil)}}})
	l.toR = nil // lost
	for range 5 {
		l.now = l.now.Add(time.Second)
		l.leader(message.Wake{})
		l.settle()
	}
	if !l.inSync(l.r.self) || l.r.Digest() != l.c.Digest() {
		t.Errorf("the follower did not come back: %+v", l.c.Followers())
	}
	if len(l.fetches) == 0 {
		t.Error("it was not asked to hold the blocks")
	}
}

// TestOutrunIsTold: whoever obeys a later epoch makes the driver look, once.
func TestOutrunIsTold(t *testing.T) {
	_, self := schedtest.Identity(0)
	_, worker := schedtest.Identity(3)
	c := NewCoordinator(self, Default(), 7)
	outrun := func(epoch uint64) (n int) {
		for _, e := range c.Step(schedtest.Start,
			&message.Received{From: worker, Message: &message.Message{Report: &message.Report{Epoch: epoch}}}) {
			if e, ok := e.(message.Outrun); ok && e.Epoch == epoch {
				n++
			}
		}
		return n
	}
	if outrun(7) != 0 || outrun(9) != 1 || outrun(9) != 0 || c.Epoch() != 7 {
		t.Errorf("the epoch is %d", c.Epoch())
	}
	if effects := c.Begin(12); len(effects) != 1 || c.Epoch() != 12 || outrun(9) != 0 || c.Begin(11) != nil {
		t.Errorf("begins epoch %d with %+v", c.Epoch(), effects)
	}
}

// TestBeginKeepsPromises: a later epoch of the same leader sends nothing that its
// followers have not got; it is sent when they have, or are not waited for.
func TestBeginKeepsPromises(t *testing.T) {
	_, second := schedtest.Identity(2)
	for name, silent := range map[string]bool{"in sync again": false, "silent": true} {
		t.Run(name, func(t *testing.T) {
			l := newLedTest(t)
			key, owner := schedtest.Identity(1)
			l.leader(&message.Received{From: owner,
				Message: &message.Message{Submit: &message.Submit{Record: schedtest.Job(t, key, 2, nil)}}})
			l.toR = nil // the copy is lost with its epoch
			l.c.Begin(8)
			l.leader(message.Wake{})
			l.leader(&message.Received{From: owner,
				Message: &message.Message{Submit: &message.Submit{Record: schedtest.Job(t, key, 2, nil)}}})
			l.want("accepted", 0)
			if silent {
				l.leader(message.Suspected{Peer: second})
				l.want("accepted", 1)
				return
			}
			l.follower(message.LeaderChanged{Leader: l.c.self, Epoch: 8})
			l.settle()
			l.want("accepted", 0) // it has the record, and not the blocks
			for range 2 {
				l.now = l.now.Add(replication.TickEvery)
				l.leader(message.Wake{})
				l.settle()
			}
			l.fetched("")
			l.settle()
			l.want("accepted", 1)
			if l.r.Digest() != l.c.Digest() || !l.inSync(second) {
				t.Error("the follower is not in sync")
			}
		})
	}
}
