package p2p

import (
	"time"

	"godwit/overlay"
	"godwit/task"
)

// MaxOverlays bounds the overlays that a host is in at once: each may remember
// maxAdverts members.
const MaxOverlays = 16

// An Overlay is one that a host takes part in.
type Overlay struct {
	ID overlay.ID
	// Admit says who may be in it; nil admits everybody. It is asked about each
	// newer advert, valid in itself, and called from many goroutines. An error drops
	// the advert: it is counted as "stranger", not told and not relayed. Only a peer
	// that sends its own again and again is blamed for it. What it refers to may
	// change at any time: see Host.Recheck.
	Admit func(a *overlay.Advert) error
	// Closed keeps the members secret: their adverts are told and gossiped to peers
	// alone whose own advert was admitted. Our own, which must show that we are
	// invited, is said to anybody.
	Closed bool
}

// A membership is what a host knows of an overlay that it is in. adverts.mu
// guards what changes.
type membership struct {
	Overlay
	known map[task.PeerID]known // newest advert of every member but this node
	own   []byte                // encoded; nil before SetAdvert
	// ownBits are those of the cell that it says.
	ownBits uint8
	budget  budget

	told      *channel // of its cell; set before it is joined
	summaries *channel // of what leaders say; nil while it is not listened to
	heard     circle   // of these
}

// known is a member and its newest advert.
type known struct {
	overlay.Advert
	since    time.Time // when the member was first heard of
	number   uint64    // by which it belongs to a cell
	renewals bucket
	bytes    []byte // of the advert, as they came
}

// tells says whether a peer is told of others in the overlay. adverts.mu is held.
func (m *membership) tells(p task.PeerID, now time.Time) bool {
	return !m.Closed || m.known[p].Expires.After(now)
}
