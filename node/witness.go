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
func (n *Node) missed(peer task.PeerID) {
	if _, known := n.gone[peer]; n.coordinator != nil && !known && peer != n.self {
		n.gone[peer] = n.now()
	}
}

// witness compares a member's new advert with what was seen of the member; its
// last one, if known, was issued at before.
func (n *Node) witness(a *overlay.Advert, before time.Time, known bool) {
	if a.Peer == n.self {
		return
	}
	now := n.now()
	from, absent := n.gone[a.Peer]
	delete(n.gone, a.Peer)
	switch {
	case absent:
		n.standing.Absent(a.Peer, from, now)
	case known && n.coordinator != nil:
		n.standing.Present(a.Peer, min(a.Issued.Sub(before), advertLife))
	}
	const slack = 4 // a history in an advert has a handful of spells; this bounds a hostile one
	h, err := trace.DecodeSpells(a.Spells, slack*advertSpells)
	if err != nil {
		return
	}
	n.standing.Claims(a.Peer, h)
}
