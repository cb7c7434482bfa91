package member

import (
	"testing"
	"time"

	"godwit/overlay"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// crowd sends a host the adverts of so many members of its cell, which know of cells, and returns their numbers.
func (h *host) crowd(from, count int) (out []int) {
	for n := from; len(out) < count; n++ {
		_, p := schedtest.Identity(n)
		if !h.m.cell.Holds(overlay.CellNumber(h.m.ID(), p)) {
			continue
		}
		a := overlay.Advert{Peer: p, Overlay: h.m.ID(), Seq: 1, Issued: h.s.now, Expires: h.s.now.Add(AdvertLife),
			Bits: h.m.cell.Bits, State: overlay.Available}
		a.MarkCells()
		h.m.view.Seen(&a)
		out = append(out, n)
	}
	return out
}

// looks calls what a leader does about the size of its cell, some time after the last change.
func (h *host) looks() {
	h.s.now = h.s.now.Add(overlay.CellWait + overlay.CellGap)
	h.at(func() { h.m.lookAtSize(h.s.now) })
}

// ruler returns a swarm of two hosts that follow the first one, with the usual cells.
func ruler(t *testing.T) (leader, follower *host) {
	t.Helper()
	s := newSwarm(t, 2)
	s.cells = overlay.DefaultCellRule()
	s.start()
	if !s.pass(time.Minute, func() bool {
		l := s.leader()
		return l != nil && s.hosts[0].m.Leader() == s.hosts[1].m.Leader() && s.hosts[0].m.Leader().Leader == l.id
	}) {
		t.Fatal("no common leader after a minute")
	}
	leader, follower = s.leader(), s.hosts[0]
	if follower == leader {
		follower = s.hosts[1]
	}
	return leader, follower
}

// A leader of 501 to 1,000 members divides its cell. Its member follows because the division is signed, and as the
// next leader of a half it proves to the other half that its cell exists.
func TestSignedDivisionIsFollowedAndProven(t *testing.T) {
	for _, members := range []int{510, 1000} {
		leader, follower := ruler(t)
		s := leader.s
		leader.crowd(100, members)
		follower.crowd(100, members)
		follower.at(follower.m.Advertise) // it knows of cells, since it knows many members
		s.settle()
		leader.looks()
		s.settle()
		if leader.m.Cell().Bits != 1 || follower.m.Cell().Bits != 1 {
			t.Fatalf("with %d members the leader is in cell %s, its member in %s", members, leader.m.Cell(), follower.m.Cell())
		}
		line := follower.m.descent.lineage
		if !line.Of(follower.m.Cell()) || !line.Same(leader.m.descent.lineage) || line[0].Leader != leader.id {
			t.Fatalf("the lineages differ: %v, %v", line, leader.m.descent.lineage)
		}
		// A member of the follower's half leads it and signs a summary.
		key, peer := schedtest.Identity(100)
		for n := 100; !follower.m.Cell().Holds(overlay.CellNumber(follower.m.ID(), peer)); n++ {
			key, peer = schedtest.Identity(n)
		}
		next := overlay.Summary{Overlay: leader.m.ID(), Leader: peer, Cell: follower.m.Cell(), Epoch: overlay.NextEpoch(7, peer),
			Issued: s.now, Members: members / 2, Lineage: line}
		if err := next.Sign(key); err != nil {
			t.Fatal(err)
		}
		b, err := next.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if next, err = overlay.OpenSummary(b, s.now); err != nil {
			t.Fatal(err)
		}
		for _, h := range s.hosts {
			h.tell(Summarised{Of: h.m, Summaries: []overlay.Summary{next}})
			if _, known := h.m.others.Leader(peer); !known {
				t.Errorf("the leader of half %s is not known in half %s", next.Cell, h.m.Cell())
			}
		}
	}
}

// A member that is told by its leader's advert that the cell has divided stays where it is if the leader shows no
// division, or one by another peer, or if the member knows fewer members than Ready.
func TestUnsignedDivisionIsNotFollowed(t *testing.T) {
	for name, tt := range map[string]struct {
		members int
		by      func(leader task.PeerID) task.PeerID
		follows bool
	}{
		"no division": {600, func(task.PeerID) task.PeerID { return "" }, false},
		"another's":   {600, func(task.PeerID) task.PeerID { _, p := schedtest.Identity(99); return p }, false},
		"too few":     {300, func(l task.PeerID) task.PeerID { return l }, false},
		"its own":     {600, func(l task.PeerID) task.PeerID { return l }, true},
	} {
		leader, follower := ruler(t)
		follower.crowd(100, tt.members)
		a := leader.m.Advertised()
		a.Seq, a.Bits = a.Seq+1, 1
		if by := tt.by(leader.id); by != "" {
			a.Division = overlay.Division{Leader: by, Epoch: a.Epoch, Issued: leader.s.now}
		}
		follower.tell(Advertised{Advert: &a})
		if followed := !follower.m.Cell().Whole(); followed != tt.follows {
			t.Errorf("%s: the member follows: %v", name, followed)
		}
	}
}

// Two halves join, but the other half doesn't come: its members' adverts show that they are still there. The leader goes
// back with its members, and with the former lineage. It stays if members of the other half have come.
func TestLeaderGoesBackIfOtherHalfDoesNotCome(t *testing.T) {
	for _, came := range []bool{false, true} {
		leader, follower := ruler(t)
		s := leader.s
		id := leader.m.ID()
		half := overlay.CellOf(leader.m.number, 1)
		// Both are taken for members of one half.
		follower.m.number = leader.m.number
		key, before := schedtest.Identity(99)
		lineage := overlay.Lineage{{Leader: before, Epoch: overlay.NextEpoch(0, before), Issued: s.now}}
		if err := lineage[0].Sign(id, 0, key); err != nil {
			t.Fatal(err)
		}
		for _, h := range []*host{leader, follower} {
			h.m.Begin(half, lineage)
		}
		other := 100
		_, peer := schedtest.Identity(other)
		for half.Holds(overlay.CellNumber(id, peer)) {
			other++
			_, peer = schedtest.Identity(other)
		}
		joined := overlay.Advert{Peer: peer, Overlay: id, Seq: 1, Issued: s.now, Expires: s.now.Add(time.Hour), Bits: 1}
		leader.at(func() { leader.m.leadTo(overlay.Cell{}, nil, "for this test") })
		s.settle()
		if !follower.m.Cell().Whole() {
			t.Fatal("the member does not follow into the whole")
		}
		joined.Seq, joined.Issued, joined.Expires = 2, s.now.Add(2*overlay.CellGap), s.now.Add(time.Hour)
		if came {
			joined.Bits = 0
		}
		leader.tell(Advertised{Advert: &joined})
		leader.looks()
		s.settle()
		want := uint8(1)
		if came {
			want = 0
		}
		if leader.m.Cell().Bits != want || follower.m.Cell().Bits != want {
			t.Errorf("the other half came: %v; the leader is in cell %s, its member in %s", came, leader.m.Cell(),
				follower.m.Cell())
		}
		if !came && !(leader.m.descent.lineage.Same(lineage) && follower.m.descent.lineage.Same(lineage)) {
			t.Error("the half has another lineage than before")
		}
	}
}

// New rules disable cells: a member of a half goes into the whole overlay, and never divides again.
func TestRulesDisableCells(t *testing.T) {
	_, h := halved(t)
	rules := *h.m.Manifest()
	rules.Undivided = true
	h.at(func() { h.m.Follow(rules) })
	if !h.m.Cell().Whole() {
		t.Fatalf("the member is in cell %s", h.m.Cell())
	}
	h.crowd(100, 1000)
	h.looks()
	if a := h.m.Advertised(); !h.m.Cell().Whole() || a.KnowsCells() {
		t.Errorf("the member is in cell %s, with the version %q", h.m.Cell(), a.Version)
	}
	if _, wakes := h.peer.NextWake(false); !wakes {
		t.Error("the member sleeps forever")
	}
}
