package member

import (
	"slices"
	"testing"
	"time"

	"godwit/overlay"
	"godwit/task"
)

// A member knows who coordinates, also one that does not, and which others lend.
func TestBystanders(t *testing.T) {
	if (bystanders{&Member{}}).Group() != nil {
		t.Fatal("there are coordinators before the start")
	}
	s := newSwarm(t, 5)
	s.start()
	if !s.pass(time.Minute, func() bool { l := s.leader(); return l != nil && len(l.m.Group()) == overlay.GroupSize }) {
		t.Fatal("no leader with a group after a minute")
	}
	s.pass(time.Minute, func() bool { return false })
	group := s.leader().m.Group()
	idle := s.stranger(99, func(a *overlay.Advert) { a.Slots = 0 })
	for _, h := range s.hosts {
		b := bystanders{h.m}
		if !slices.Equal(b.Group(), group) {
			t.Errorf("host %d: the group is %v, want %v", h.n, b.Group(), group)
		}
		want := len(s.hosts) - len(group)
		if !slices.Contains(group, h.id) {
			want--
		}
		got := b.Lending(group, 10)
		if len(got) != want || slices.Contains(got, idle) || slices.Contains(got, h.id) ||
			slices.ContainsFunc(got, func(w task.PeerID) bool { return slices.Contains(group, w) }) {
			t.Errorf("host %d: of %d others lend %v", h.n, want, got)
		}
		if n := len(b.Lending(nil, 2)); n != 2 {
			t.Errorf("host %d: %d of at most 2", h.n, n)
		}
	}
}
