package p2p

import (
	"errors"
	"fmt"
	"time"

	"godwit/overlay"
	"godwit/task"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	"github.com/libp2p/go-libp2p/core/peer"
)

// MaxOverlays bounds the overlays that a host is in at once: each may remember
// maxAdverts members.
const MaxOverlays = 16

// ErrNotJoined is returned for an overlay that the host is not in.
var ErrNotJoined = errors.New("p2p: not in the overlay")

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
	known  map[task.PeerID]known // newest advert of every member but this node
	own    []byte                // encoded; nil before SetAdvert
	budget budget

	// Set by gossip.join, and then never changed.
	topic *pubsub.Topic
	sub   *pubsub.Subscription
	stop  func() // ends what takes from sub
}

// tells says whether a peer is told of others in the overlay. adverts.mu is held.
func (m *membership) tells(p task.PeerID, now time.Time) bool {
	return !m.Closed || m.known[p].Expires.After(now)
}

// member returns what is known of an overlay, nil when we are not in it.
func (as *adverts) member(id overlay.ID) *membership {
	as.mu.Lock()
	defer as.mu.Unlock()
	return as.joined[id]
}

// Join has the host take part in an overlay: tell and hear adverts of it. It may
// be called before Run and during it. It fails for an overlay that the host is in
// already, and beyond MaxOverlays.
func (h *Host) Join(o Overlay) error {
	if _, err := overlay.ParseID(string(o.ID)); err != nil {
		return fmt.Errorf("p2p: joining an overlay: %w", err)
	}
	h.joining.Lock()
	defer h.joining.Unlock()
	h.adverts.mu.Lock()
	_, again := h.adverts.joined[o.ID]
	count := len(h.adverts.joined)
	h.adverts.mu.Unlock()
	switch {
	case h.life.Err() != nil:
		return ErrClosed
	case again:
		return fmt.Errorf("p2p: joining overlay %s: already in it", o.ID)
	case count >= MaxOverlays:
		return fmt.Errorf("p2p: joining overlay %s: already in %d, at most %d", o.ID, count, MaxOverlays)
	}
	m := &membership{Overlay: o, known: map[task.PeerID]known{}}
	if err := h.gossip.join(m); err != nil {
		return err
	}
	h.adverts.mu.Lock()
	defer h.adverts.mu.Unlock()
	h.adverts.joined[o.ID] = m
	return nil
}

// Leave ends taking part in an overlay. It says no goodbye: whoever wants one sets
// a last advert before. What was known of the overlay is forgotten. It returns
// ErrNotJoined for one that the host is not in.
func (h *Host) Leave(id overlay.ID) error {
	h.joining.Lock()
	defer h.joining.Unlock()
	h.adverts.mu.Lock()
	m := h.adverts.joined[id]
	delete(h.adverts.joined, id)
	h.adverts.mu.Unlock()
	if m == nil {
		return fmt.Errorf("%w: %s", ErrNotJoined, id)
	}
	return h.gossip.leave(m)
}

// Recheck asks an overlay's Admit again about all members known, after its rule
// changed, and forgets those that are not admitted any more. Of a closed overlay
// such a peer is also disconnected, so that it is gossiped nothing. Who is admitted
// only now is heard of when its advert comes again. It returns ErrNotJoined for an
// overlay that the host is not in.
func (h *Host) Recheck(id overlay.ID) error {
	h.adverts.mu.Lock()
	m := h.adverts.joined[id]
	var all []overlay.Advert
	if m != nil {
		for _, k := range m.known {
			all = append(all, k.Advert)
		}
	}
	h.adverts.mu.Unlock()
	if m == nil {
		return fmt.Errorf("%w: %s", ErrNotJoined, id)
	}
	if m.Admit == nil {
		return nil
	}
	for _, a := range all {
		if m.Admit(&a) != nil {
			h.expel(m, a)
		}
	}
	return nil
}

// expel forgets a member, unless a newer advert of it was admitted meanwhile.
func (h *Host) expel(m *membership, a overlay.Advert) {
	h.adverts.mu.Lock()
	same := m.known[a.Peer].Seq == a.Seq
	if same {
		delete(m.known, a.Peer)
	}
	h.adverts.mu.Unlock()
	p, err := peer.Decode(string(a.Peer))
	if same && err == nil && m.Closed && h.connected(p) {
		_ = h.net.Network().ClosePeer(p)
	}
}

// SetAdvert publishes what this node says about itself in the advert's overlay:
// now by gossip, and to every peer that connects until it is replaced or expires.
// It must be signed by this node and newer than the last. It returns ErrNotJoined
// for an overlay that the host is not in.
func (h *Host) SetAdvert(a overlay.Advert) error {
	if a.Peer != h.id {
		return fmt.Errorf("p2p: advert is of %s, this node is %s", a.Peer, h.id)
	}
	b, err := a.Encode()
	if err != nil {
		return err
	}
	if _, err := overlay.OpenAdvert(b, time.Now()); err != nil {
		return fmt.Errorf("p2p: own advert: %w", err)
	}
	h.adverts.mu.Lock()
	m := h.adverts.joined[a.Overlay]
	if m != nil {
		m.own = b
	}
	h.adverts.mu.Unlock()
	if m == nil {
		return fmt.Errorf("%w: %s", ErrNotJoined, a.Overlay)
	}
	h.gossip.publish(m, b)
	h.greetYoung()
	return nil
}
