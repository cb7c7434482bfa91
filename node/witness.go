package node

import (
	"time"

	"godwit/overlay"
	"godwit/task"
	"godwit/trace"
)

// A leader relies on its members, and so sees when they are gone. What it saw is
// compared with what they say of themselves.

// missed notes that a member is gone, if this node leads.
func (m *membership) missed(peer task.PeerID) {
	if _, known := m.gone[peer]; m.coordinator != nil && !known && peer != m.n.self {
		m.gone[peer] = m.n.now()
	}
}

// witness compares a member's new advert with what was seen of the member; its
// last one, if known, was issued at before.
func (m *membership) witness(a *overlay.Advert, before time.Time, known bool) {
	n := m.n
	if a.Peer == n.self {
		return
	}
	now := n.now()
	from, absent := m.gone[a.Peer]
	delete(m.gone, a.Peer)
	switch {
	case absent:
		n.standing.Absent(a.Peer, from, now)
	case known && m.coordinator != nil:
		n.standing.Present(a.Peer, min(a.Issued.Sub(before), advertLife))
	}
	const slack = 4 // a history in an advert has a handful of spells; this bounds a hostile one
	h, err := trace.DecodeSpells(a.Spells, slack*advertSpells)
	if err != nil {
		return
	}
	n.standing.Claims(a.Peer, h)
}
