package p2p

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"godwit/overlay"
	"godwit/task"

	"github.com/libp2p/go-libp2p/core/peer"
)

// overlays are those that the host takes part in.
type overlays struct {
	*endpoint
	adverts *adverts
	gossip  *gossip
	greeter *greeter
	joining sync.Mutex // held by Join and Leave
}

// Join has the host take part in an overlay: tell and hear adverts of it. It may
// be called before Run and during it. It fails for an overlay that the host is in
// already, and beyond MaxOverlays.
func (ov *overlays) Join(o Overlay) error {
	if _, err := overlay.ParseID(string(o.ID)); err != nil {
		return fmt.Errorf("p2p: joining an overlay: %w", err)
	}
	ov.joining.Lock()
	defer ov.joining.Unlock()
	ov.adverts.mu.Lock()
	_, again := ov.adverts.joined[o.ID]
	count := len(ov.adverts.joined)
	ov.adverts.mu.Unlock()
	switch {
	case ov.life.Err() != nil:
		return ErrClosed
	case again:
		return fmt.Errorf("p2p: joining overlay %s: already in it", o.ID)
	case count >= MaxOverlays:
		return fmt.Errorf("p2p: joining overlay %s: already in %d, at most %d", o.ID, count, MaxOverlays)
	}
	m := &membership{Overlay: o, known: map[task.PeerID]known{}}
	var err error
	if m.told, err = ov.gossip.join(o.ID, overlay.Cell{}, false); err != nil {
		return err
	}
	ov.adverts.mu.Lock()
	defer ov.adverts.mu.Unlock()
	ov.adverts.joined[o.ID] = m
	return nil
}

// Leave ends taking part in an overlay. It says no goodbye: whoever wants one sets
// a last advert before. What was known of the overlay is forgotten. It returns
// ErrNotJoined for one that the host is not in.
func (ov *overlays) Leave(id overlay.ID) error {
	ov.joining.Lock()
	defer ov.joining.Unlock()
	ov.adverts.mu.Lock()
	m := ov.adverts.joined[id]
	delete(ov.adverts.joined, id)
	ov.adverts.mu.Unlock()
	if m == nil {
		return fmt.Errorf("%w: %s", ErrNotJoined, id)
	}
	var err error
	if m.summaries != nil {
		err = ov.gossip.leave(m.summaries)
	}
	return errors.Join(err, ov.gossip.leave(m.told))
}

// Shared returns the overlays that this node is in and of which a peer is a member, in any
// order: admitted by the rules as they are known here, and with an advert that has not expired.
func (ov *overlays) Shared(p task.PeerID) []overlay.ID { return ov.adverts.shared(p, time.Now()) }

// Recheck asks an overlay's Admit again about all members known, after its rule
// changed, and forgets those that are not admitted any more. Of a closed overlay
// such a peer is also disconnected, so that it is gossiped nothing. Who is admitted
// only now is heard of when its advert comes again. It returns ErrNotJoined for an
// overlay that the host is not in.
func (ov *overlays) Recheck(id overlay.ID) error {
	ov.adverts.mu.Lock()
	m := ov.adverts.joined[id]
	var all []overlay.Advert
	if m != nil {
		for _, k := range m.known {
			all = append(all, k.Advert)
		}
	}
	ov.adverts.mu.Unlock()
	if m == nil {
		return fmt.Errorf("%w: %s", ErrNotJoined, id)
	}
	if m.Admit == nil {
		return nil
	}
	for _, a := range all {
		if m.Admit(&a) != nil {
			ov.expel(m, a)
		}
	}
	return nil
}

// expel forgets a member, unless a newer advert of it was admitted meanwhile.
func (ov *overlays) expel(m *membership, a overlay.Advert) {
	ov.adverts.mu.Lock()
	same := m.known[a.Peer].Seq == a.Seq
	if same {
		delete(m.known, a.Peer)
	}
	ov.adverts.mu.Unlock()
	p, err := peer.Decode(string(a.Peer))
	if same && err == nil && m.Closed && ov.connected(p) {
		_ = ov.net.Network().ClosePeer(p)
	}
}

// SetAdvert publishes what this node says about itself in the advert's overlay:
// now by gossip, and to every peer that connects until it is replaced or expires.
// It must be signed by this node and newer than the last. It returns ErrNotJoined
// for an overlay that the host is not in.
func (ov *overlays) SetAdvert(a overlay.Advert) error {
	if a.Peer != ov.id {
		return fmt.Errorf("p2p: advert is of %s, this node is %s", a.Peer, ov.id)
	}
	b, err := a.Encode()
	if err != nil {
		return err
	}
	if _, err := overlay.OpenAdvert(b, time.Now()); err != nil {
		return fmt.Errorf("p2p: own advert: %w", err)
	}
	ov.adverts.mu.Lock()
	m := ov.adverts.joined[a.Overlay]
	joined := m != nil && m.own == nil
	if m != nil {
		m.own, m.ownBits = b, a.Bits
	}
	ov.adverts.mu.Unlock()
	if m == nil {
		return fmt.Errorf("%w: %s", ErrNotJoined, a.Overlay)
	}
	ov.gossip.publish(m, b)
	ov.greeter.greetYoung()
	ov.greeter.tellRelayed(m, b, joined)
	return nil
}
