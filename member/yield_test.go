package member

import (
	"testing"
	"time"

	"godwit/overlay"
	"godwit/scheduler/message"
)

// The owners of all members but one come back within a second, the leader's first. Leadership goes to the one that is
// left, without a stop at those that seemed fit for a moment.
func TestLeadershipDoesNotHopAsOwnersComeBack(t *testing.T) {
	s := newSwarm(t, 5)
	for _, h := range s.hosts {
		h.stay = .9
	}
	s.start()
	if !s.pass(time.Minute, func() bool { return s.leader() != nil }) {
		t.Fatal("no leader after a minute")
	}
	s.pass(time.Minute, func() bool { return false })
	first := s.leader()
	left := s.hosts[(first.n+3)%len(s.hosts)]
	for _, h := range s.hosts {
		if h != first { // its next advert waits for AdvertGap
			h.tell(Lent{State: message.OwnerState{State: overlay.Available, Slots: 3}})
		}
	}
	s.pass(100*time.Millisecond, func() bool { return false })
	was := len(s.story)
	back := func(h *host) {
		h.tell(Lent{State: message.OwnerState{State: overlay.UserPresent, Reason: "the keyboard is in use"}})
		s.pass(250*time.Millisecond, func() bool { return false })
	}
	back(first)
	for _, h := range s.hosts {
		if h != first && h != left {
			back(h)
		}
	}
	silent := time.Duration(0)
	for range 200 {
		s.pass(100*time.Millisecond, func() bool { return false })
		if left.m.Leader().Leader == "" {
			silent += 100 * time.Millisecond
		}
	}
	if got := s.leader(); got != left {
		t.Errorf("%v leads", got)
	}
	// One begins to lead and one ends.
	if changes := s.story[was:]; len(changes) != 2 || silent > time.Second {
		t.Errorf("leadership changed %v; the member that is left heard of no leader for %v", changes, silent)
	}
}
