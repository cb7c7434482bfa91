package member

import (
	"testing"
	"time"

	"godwit/overlay"
	"godwit/task"
)

// counts reports whether a host takes another for a member.
func (h *host) counts(of task.PeerID) bool {
	_, ok := h.m.View().Member(of)
	return ok
}

// TestToldOfLostMember: a member that is lost, and of which somebody tells who has not noticed, does not
// count until it has answered; when it is there, it counts at once, with what was told.
func TestToldOfLostMember(t *testing.T) {
	s := newSwarm(t, 4)
	s.start()
	if !s.pass(time.Minute, func() bool { l := s.leader(); return l != nil && len(l.m.View().Members()) == 4 }) {
		t.Fatal("no leader of four after a minute")
	}
	l := s.leader()
	gone := s.hosts[0]
	if gone == l {
		gone = s.hosts[1]
	}
	old, ok := l.m.View().Member(gone.id)
	if !ok {
		t.Fatal("it is no member")
	}
	gone.crash()
	if !s.pass(time.Minute, func() bool { return l.up && l.belief(gone.id) == overlay.Lost }) {
		t.Fatal("nobody notices that it is gone")
	}
	told := old // a later advert, from before its loss
	told.Seq, told.Site = old.Seq+1, "elsewhere"
	l.tell(Advertised{Advert: &told})
	asked := false
	for _, e := range l.pending {
		p, ok := e.(Probe)
		asked = asked || ok && p.Peer == gone.id
	}
	if !asked {
		t.Error("it is not asked whether it is there")
	}
	s.settle()
	if l.counts(gone.id) || l.belief(gone.id) != overlay.Lost {
		t.Errorf("it counts: %t, and is taken for %v", l.counts(gone.id), l.belief(gone.id))
	}
	s.pass(2*overlay.MaxAdvertLife/3, func() bool { return false })
	if l.counts(gone.id) {
		t.Error("it counts later")
	}
	gone.boot()
	if !s.pass(2*time.Minute, func() bool { return l.counts(gone.id) }) {
		t.Error("it is there again, and does not count")
	}
}
