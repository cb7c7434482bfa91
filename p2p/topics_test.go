package p2p

import (
	"testing"

	"godwit/overlay"
)

// TestSubjectOf: each topic is read as what it was made of, and no other text is a topic.
func TestSubjectOf(t *testing.T) {
	const id = overlay.ID("an ID")
	for _, want := range []subject{
		{id: id}, {id: id, cell: overlay.Cell{Bits: 1, Prefix: 1}}, {id: id, cell: overlay.Cell{Bits: 10, Prefix: 5}},
	} {
		if got, ok := subjectOf(topicOf(want.id, want.cell)); !ok || got != want {
			t.Errorf("%+v is read as %+v, %v", want, got, ok)
		}
	}
	if got, ok := subjectOf(summariesOf(id)); !ok || !got.summaries || got.id != id {
		t.Errorf("the topic of summaries is read as %+v, %v", got, ok)
	}
	for _, text := range []string{"", "else", topicPrefix + "an ID/", topicPrefix + "an ID/2", topicPrefix + "an ID/+1",
		topicPrefix + "an ID/01010101010", topicPrefix + "an ID/0/1"} {
		if got, ok := subjectOf(text); ok {
			t.Errorf("%q is read as %+v", text, got)
		}
	}
}

// TestSubjectFits: in a cell's topic adverts of its members are relayed, and those of one that goes into a half or
// the cell that it is a half of; and nobody else's.
func TestSubjectFits(t *testing.T) {
	a := overlay.Advert{Overlay: "an ID", Peer: "somebody"}
	number := overlay.CellNumber(a.Overlay, a.Peer)
	for bits := range uint8(6) {
		s := subject{id: a.Overlay, cell: overlay.CellOf(number, bits)}
		for a.Bits = 0; a.Bits < 8; a.Bits++ {
			near := a.Bits == bits || a.Bits == bits+1 || a.Bits+1 == bits
			if s.fits(&a) != near {
				t.Errorf("in the topic of cell %s one of %d bits is relayed: %v", s.cell, a.Bits, !near)
			}
		}
		if a.Bits = bits; bits > 0 {
			if s.cell = s.cell.Sibling(); s.fits(&a) {
				t.Errorf("in the topic of cell %s one of its sibling is relayed", s.cell)
			}
		}
	}
}
