package member

import (
	"crypto/ed25519"
	"testing"
	"time"

	"godwit/overlay"
	"godwit/task"
)

// stranger gossips a signed advert of a peer that nobody knows to every host.
func (s *swarm) stranger(seed byte, change func(*overlay.Advert)) task.PeerID {
	key := ed25519.NewKeyFromSeed(append(make([]byte, ed25519.SeedSize-1), seed))
	a := overlay.Advert{
		Peer: task.PeerIDOf(key.Public().(ed25519.PublicKey)), Overlay: s.hosts[0].m.ID(), Seq: uint64(s.now.UnixNano()),
		Issued: s.now, Expires: s.now.Add(AdvertLife), State: overlay.Available, Slots: 1, Memory: 1 << 30,
	}
	change(&a)
	for _, h := range s.hosts {
		if h.up {
			h.tell(Advertised{Advert: &a})
		}
	}
	s.settle()
	return a.Peer
}

// An advert that says it leads moves nobody from a leader that is there, whatever term it
// names, nor does a renewal; and when the leader dies, those whom it named come first.
func TestStrangerDoesNotLead(t *testing.T) {
	s := newSwarm(t, 5)
	s.start()
	if !s.pass(time.Minute, func() bool { l := s.leader(); return l != nil && len(l.m.Group()) == overlay.GroupSize }) {
		t.Fatal("no leader with a group after a minute")
	}
	s.pass(2*overlay.MinUptime, func() bool { return false }) // the others have been known for a while
	leader := s.leader()
	var liar task.PeerID
	claim := func(leap uint64) {
		_, known := leader.m.lease.Leader()
		liar = s.stranger(200, func(a *overlay.Advert) {
			for range leap {
				known = overlay.NextEpoch(known, a.Peer)
			}
			a.Epoch = known
		})
		for _, h := range s.hosts {
			h.tell(LeaseSaid{Of: h.m, From: liar, Lease: Lease{Kind: Renewal,
				Renewal: overlay.Renewal{Epoch: known, Group: []task.PeerID{liar}}}})
			h.tell(LeaseSaid{Of: h.m, From: liar, Lease: Lease{Kind: Refusal, Renewal: overlay.Renewal{Epoch: known + 1}}})
		}
		s.settle()
	}
	for _, leap := range []uint64{1, 2, 100} {
		claim(leap)
		for _, h := range s.hosts {
			if got := h.m.Leader().Leader; got != leader.id {
				t.Fatalf("%d terms ahead: host %d follows %s", leap, h.n, got)
			}
		}
		s.pass(10*time.Second, func() bool { return false })
	}
	leader.crash()
	if !s.pass(time.Minute, func() bool { n := s.leader(); return n != nil && n != leader }) {
		t.Fatal("nobody took over")
	}
	s.pass(10*time.Second, func() bool { return false })
	for _, h := range s.hosts {
		if got := h.m.Leader().Leader; h.up && got != s.leader().id {
			t.Errorf("after the leader died host %d follows %s, host %d leads", h.n, got, s.leader().n)
		}
	}
}

// Where the rules name who may coordinate, nobody else does, not even alone.
func TestTrustedAloneCoordinate(t *testing.T) {
	s := newSwarm(t, 4)
	for _, h := range s.hosts {
		h.boot()
		h.m.manifest.Trusted = []task.PeerID{s.hosts[2].id}
	}
	h := s.hosts[0]
	h.at(func() { h.m.FoundAt(s.now) })
	h.at(h.m.Found)
	h.tell(LeaseSaid{Of: h.m, From: s.hosts[2].id, Lease: Lease{Kind: Offer,
		Renewal: overlay.Renewal{Epoch: overlay.NextEpoch(0, h.id), Group: []task.PeerID{h.id}}}})
	s.pass(time.Minute, func() bool { return s.leader() != nil })
	if l := s.leader(); l != s.hosts[2] {
		t.Fatalf("host %v leads", l)
	}
	s.hosts[2].crash()
	if s.pass(5*time.Minute, func() bool { return s.leader() != nil && s.leader() != s.hosts[2] }) {
		t.Errorf("host %d leads in its place", s.leader().n)
	}
}
