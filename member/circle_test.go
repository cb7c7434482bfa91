package member

import (
	"slices"
	"testing"
	"time"

	"godwit/overlay"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// TestCircle: a leader keeps to few others, one of each cell, those that nobody can take the place of by saying that
// it leads there too; the circles of all reach everybody.
func TestCircle(t *testing.T) {
	s := newSwarm(t, 1)
	s.cells = overlay.CellRule{Most: 1 << 20, Join: -1}
	s.start()
	h := s.hosts[0]
	if !s.pass(time.Minute, func() bool { return h.m.Coordinator() != nil }) {
		t.Fatal("it does not lead")
	}
	const bits = 4
	h.m.Begin(overlay.CellOf(h.m.number, bits), lineageOf(bits))
	first := map[overlay.Cell]task.PeerID{}
	for n := 50; n < 250; n++ {
		_, peer := schedtest.Identity(n)
		c := overlay.CellOf(overlay.CellNumber(h.m.ID(), peer), bits)
		if _, led := first[c]; !led {
			first[c] = peer
		}
		said := overlay.Summary{Overlay: h.m.ID(), Leader: peer, Cell: c, Issued: s.now, Members: 9,
			Lineage: lineageOf(bits)}
		h.tell(Summarised{Of: h.m, Summaries: []overlay.Summary{said}})
	}
	circle := h.m.Circle()
	if len(circle) != bits {
		t.Errorf("of %d cells it keeps to %d leaders, want %d", len(first), len(circle), bits)
	}
	for i, peer := range circle {
		at := h.m.cell
		at.Prefix = (at.Prefix + 1<<i) % (1 << bits)
		if first[at] != peer {
			t.Errorf("the %d-th is not the first that led cell %s", i, at)
		}
	}
	h.m.cell = overlay.Cell{}
	if whole := h.m.Circle(); len(whole) > 0 || slices.Contains(circle, h.id) {
		t.Errorf("who leads the whole overlay keeps to %v", whole)
	}
}
