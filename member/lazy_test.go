package member

import (
	"slices"
	"testing"
	"time"

	"godwit/overlay"
)

// slept returns a swarm in which a member outside the group, which it returns, has not
// looked at its lease for minutes.
func slept(t *testing.T, lazy bool) (s *swarm, outside *host) {
	t.Helper()
	s = newSwarm(t, overlay.GroupSize+3)
	s.lazy = lazy
	s.start()
	s.pass(3*time.Minute, func() bool { return false })
	for _, h := range s.hosts {
		if lazy && h.m.lookedAt() {
			continue
		}
		if group := s.leader().m.Group(); !slices.Contains(group, h.id) {
			return s, h
		}
	}
	t.Fatal("all are in the group")
	return nil, nil
}

// A lease that was not looked at is not taken for one of a machine that starves: whoever
// is told something first has the looks that were left out.
func TestLazyLeaseCatchesUp(t *testing.T) {
	for name, something := range map[string]func(s *swarm, h *host){
		"a connection breaks": func(s *swarm, h *host) { h.tell(Disconnected{Peer: s.leader().id}) },
		"the leader is lost": func(s *swarm, h *host) {
			h.at(func() { h.m.lost(s.leader().id, "it is gone") })
		},
		"the leader's advert": func(s *swarm, h *host) {
			a := s.leader().m.Advertised()
			a.Seq++
			h.tell(Advertised{Advert: &a})
		},
		"a lease speaks": func(s *swarm, h *host) {
			epoch, group := s.leader().m.Leader().Epoch, s.leader().m.Group()
			h.tell(LeaseSaid{Of: h.m, From: s.leader().id,
				Lease: Lease{Kind: Renewal, Renewal: overlay.Renewal{Epoch: epoch, Group: group}}})
		},
		"a look at the group": func(s *swarm, h *host) { h.at(func() { h.m.regroup(s.now) }) },
		"a goodbye":           func(_ *swarm, h *host) { h.at(h.m.Goodbye) },
	} {
		s, h := slept(t, true)
		if h.m.lookedAt() {
			t.Fatalf("%s: it looks all the time", name)
		}
		if next := h.m.lease.Next(); s.now.Sub(next) < time.Minute {
			t.Fatalf("%s: it has looked %v ago", name, s.now.Sub(next))
		}
		something(s, h)
		if next := h.m.lease.Next(); next.Before(s.now) {
			t.Errorf("%s: the lease lacks the looks of %v", name, s.now.Sub(next))
		}
		h.at(func() { h.m.lease.Tick(s.now) })
		if n := h.m.lease.Strain(); n != 0 {
			t.Errorf("%s: it takes its machine for starved: strain %d", name, n)
		}
	}
}

// When all who lead are gone at once after minutes of quiet, those outside take over as
// soon as if they had looked all the time.
func TestLazyTakesOverAsSoon(t *testing.T) {
	after := map[bool]time.Duration{}
	for _, lazy := range []bool{false, true} {
		s, _ := slept(t, lazy)
		for _, id := range s.leader().m.Group() {
			s.of(id).crash()
		}
		begun := s.now
		if !s.pass(time.Minute, func() bool { return s.upLeader() != nil }) {
			t.Fatalf("lazy %v: nobody takes over", lazy)
		}
		after[lazy] = s.now.Sub(begun)
	}
	if after[true] != after[false] {
		t.Errorf("those who looked all the time take over after %v, the others after %v", after[false], after[true])
	}
}

// upLeader returns any host that is up and leads.
func (s *swarm) upLeader() *host {
	for _, h := range s.hosts {
		if h.leads() {
			return h
		}
	}
	return nil
}
