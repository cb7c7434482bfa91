package member

import (
	"slices"
	"testing"
	"time"

	"godwit/overlay"
	"godwit/task"
)

// trim tells all others that their connections to a host were too many.
func (h *host) trim() {
	for _, o := range h.s.hosts {
		if o.up && o != h {
			o.tell(Trimmed{Peer: h.id})
		}
	}
}

// belief is what a host holds of another.
func (h *host) belief(of task.PeerID) overlay.BeliefState {
	all := h.peer.Suspicion().Beliefs()
	i := slices.IndexFunc(all, func(b overlay.Belief) bool { return b.Peer == of })
	return all[i].State
}

// TestTrimmedIsNoLoss: nobody is asked after for a connection that was one too many, and nobody
// changes the group for it.
func TestTrimmedIsNoLoss(t *testing.T) {
	s := newSwarm(t, 6)
	s.start()
	if !s.pass(time.Minute, func() bool { l := s.leader(); return l != nil && len(l.m.Group()) == overlay.GroupSize }) {
		t.Fatal("no leader with a group after a minute")
	}
	leader := s.leader()
	epoch := leader.m.Leader().Epoch
	for _, h := range s.hosts {
		h.trim()
		for _, o := range s.hosts {
			for _, e := range o.pending {
				if _, asked := e.(Probe); asked {
					t.Errorf("host %d asked after somebody when host %d was trimmed", o.n, h.n)
				}
			}
		}
	}
	s.pass(time.Minute, func() bool { return false })
	if now := s.leader(); now != leader || now.m.Leader().Epoch != epoch {
		t.Error("another leads")
	}
}

// TestTrimmedLiar: who has a task and closes its connections as if they were too many, and goes, is
// found out as soon as one whose connections break, and its tasks run again.
func TestTrimmedLiar(t *testing.T) {
	s := newSwarm(t, 4)
	s.start()
	if !s.pass(time.Minute, func() bool { return s.leader() != nil }) {
		t.Fatal("no leader")
	}
	leader := s.leader()
	id := leader.submit(40)
	var liar *host
	if !s.pass(time.Minute, func() bool {
		for _, h := range s.hosts {
			if h != leader && leader.m.Coordinator().Holds(h.id) {
				liar = h
			}
		}
		return liar != nil
	}) {
		t.Fatal("nobody has a task")
	}
	liar.up = false
	liar.trim()
	s.settle()
	if got := leader.belief(liar.id); got != overlay.Lost {
		t.Errorf("the leader takes it for %v", got)
	}
	if !s.pass(2*time.Minute, func() bool { return leader.held(id) == 40 }) {
		t.Errorf("%d of 40 results", leader.held(id))
	}
}
