package member

import (
	"bytes"
	"crypto/ed25519"
	"encoding/binary"
	"slices"
	"testing"
	"time"

	"godwit/overlay"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// TestAdvertsBeforeCells: of an overlay with few members nothing that is said differs for knowing
// of cells, bit for bit; with many an advert says that its peer knows of them.
func TestAdvertsBeforeCells(t *testing.T) {
	var said [2][]byte
	for k, rule := range []overlay.CellRule{{}, overlay.DefaultCellRule()} {
		s := newSwarm(t, 3)
		s.cells = rule
		s.start()
		s.pass(time.Minute, func() bool { return false })
		a := s.hosts[0].m.Advertised()
		b, err := a.Encode()
		if err != nil || a.KnowsCells() {
			t.Fatal(err, a.Version)
		}
		said[k] = b
	}
	if !bytes.Equal(said[0], said[1]) {
		t.Errorf("without cells\n%x\nwith them\n%x", said[0], said[1])
	}
	s := newSwarm(t, 3)
	s.cells = overlay.CellRule{Most: 4, Least: 2, Join: 2, Ready: 3}
	s.start()
	s.pass(advertEvery, func() bool { return false })
	if a := s.hosts[0].m.Advertised(); !a.KnowsCells() || a.Bits != 0 {
		t.Errorf("its version is %q, of %d bits", a.Version, a.Bits)
	}
}

// TestLeaderThatDividesAlone: members of a small cell do not follow a leader that says it divides,
// though it goes on telling them that it leads: they find another.
func TestLeaderThatDividesAlone(t *testing.T) {
	s := newSwarm(t, 5)
	s.cells = overlay.DefaultCellRule()
	s.start()
	if !s.pass(time.Minute, func() bool { l := s.leader(); return l != nil && len(l.m.Group()) == overlay.GroupSize }) {
		t.Fatal("no leader with a group after a minute")
	}
	liar := s.leader()
	liar.at(func() {
		liar.m.cell = liar.m.cell.Half(liar.m.number)
		liar.m.Advertise()
	})
	s.settle()
	s.pass(time.Minute, func() bool { return false })
	var leader task.PeerID
	for _, h := range s.hosts {
		if h == liar {
			continue
		}
		got := h.m.Leader().Leader
		if !h.m.Cell().Whole() || got == liar.id || got == "" || leader != "" && got != leader {
			t.Errorf("host %d is in cell %s and follows %s, another %s; the liar is %s", h.n, h.m.Cell(), got, leader, liar.id)
		}
		leader = got
	}
}

// TestOldAdvertsMoveNobody: what a member said before its cell divided, told once more by whoever connects, does not
// make it one of another cell: it came along. What it says later does.
func TestOldAdvertsMoveNobody(t *testing.T) {
	s := newSwarm(t, 1)
	s.cells = overlay.DefaultCellRule()
	s.start()
	h := s.hosts[0]
	a := overlay.Advert{Overlay: h.m.ID(), Seq: 5, Issued: s.now, Expires: s.now.Add(AdvertLife)}
	for k := 60; a.Peer == "" || !overlay.CellOf(h.m.number, 1).Holds(overlay.CellNumber(h.m.ID(), a.Peer)); k++ {
		_, a.Peer = schedtest.Identity(k)
	}
	tell := func(a overlay.Advert) (here bool) {
		h.tell(Advertised{Advert: &a})
		_, here = h.m.view.Member(a.Peer)
		return here
	}
	if !tell(a) {
		t.Fatal("it is no member of the whole")
	}
	h.at(func() { h.m.goTo(overlay.CellOf(h.m.number, 1), nil, "for this test") })
	if !tell(a) {
		t.Error("an advert of before the division, heard again, takes it out of the cell")
	}
	if a.Seq++; tell(a) {
		t.Error("it says that it is in the whole, and is a member of the half")
	}
	if a.Seq, a.Bits = a.Seq+1, 1; !tell(a) {
		t.Error("it says that it is in the half, and is no member")
	}
}

// TestVisitorsAreBounded: however many members of other cells say their adverts, some are kept and
// none counts as one of this cell.
func TestVisitorsAreBounded(t *testing.T) {
	s := newSwarm(t, 1)
	s.cells = overlay.DefaultCellRule()
	s.start()
	h := s.hosts[0]
	h.m.cell = overlay.CellOf(h.m.number, 1)
	for n := range uint64(3 * maxVisitors) {
		key := ed25519.NewKeyFromSeed(binary.BigEndian.AppendUint64(make([]byte, ed25519.SeedSize-8), n))
		a := overlay.Advert{Peer: task.PeerIDOf(key.Public().(ed25519.PublicKey)), Overlay: h.m.ID(), Seq: 1, Issued: s.now,
			Expires: s.now.Add(AdvertLife), Bits: 1}
		h.tell(Advertised{Advert: &a})
		here := h.m.cell.Holds(overlay.CellNumber(h.m.ID(), a.Peer))
		if _, member := h.m.view.Member(a.Peer); member != here {
			t.Fatalf("%s is of this cell: %v, and a member: %v", a.Peer, here, member)
		}
		if len(h.m.visitors.known) > maxVisitors {
			t.Fatalf("%d are kept", len(h.m.visitors.known))
		}
	}
	if len(h.m.visitors.known) < maxVisitors {
		t.Errorf("%d are kept, of many", len(h.m.visitors.known))
	}
}

// lineageOf returns the lineage that all cells of so many bits have in these tests.
func lineageOf(bits uint8) (l overlay.Lineage) {
	for i := range bits {
		l = append(l, overlay.Division{Epoch: uint64(i) + 1})
	}
	return l
}

// TestWhoLeadsCells: who leads another cell is believed by a summary that holds, and no longer.
func TestWhoLeadsCells(t *testing.T) {
	s := newSwarm(t, 2)
	s.cells = overlay.DefaultCellRule()
	s.start()
	h := s.hosts[0]
	h.m.Begin(overlay.CellOf(h.m.number, 3), lineageOf(3))
	_, peer := schedtest.Identity(50) // of whom nothing else is known
	sum := overlay.Summary{Overlay: h.m.ID(), Leader: peer, Cell: overlay.CellOf(overlay.CellNumber(h.m.ID(), peer), 3),
		Issued: s.now, Members: 9, Lineage: lineageOf(3)}
	say := func() { h.tell(Summarised{Of: h.m, Summaries: []overlay.Summary{sum}}) }
	if (knows{h.m}).LeadsCell(peer) {
		t.Error("it leads by nobody's word")
	}
	if say(); !(knows{h.m}).LeadsCell(peer) {
		t.Error("it does not lead by its own")
	}
	h.m.manifest.Admission = overlay.Invited
	if (knows{h.m}).LeadsCell(peer) {
		t.Error("it leads in a closed overlay, and nothing shows that it is a member")
	}
	h.m.manifest.Admission = overlay.Open
	s.now = s.now.Add(overlay.SummaryLife)
	h.at(func() {})
	if (knows{h.m}).LeadsCell(peer) {
		t.Error("it leads by a word that is too old")
	}
	sum.Issued, sum.Members = s.now, 0
	said := func(s overlay.Summary) bool { return s.Leader == peer }
	if say(); (knows{h.m}).LeadsCell(peer) || slices.ContainsFunc(h.m.Summaries(), said) {
		t.Error("it leads though it says that it does not")
	}
}
