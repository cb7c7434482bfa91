package node

import (
	"math/rand/v2"
	"time"

	"godwit/overlay"
)

const (
	// advertEvery is how often an advert is renewed though nothing changed, less
	// up to advertJitter of it. An overlay of a thousand tells each of its members
	// a thousand adverts in this time: docs/protocol.md has what that costs.
	advertEvery  = 15 * time.Minute
	advertJitter = 0.1
	// advertLife lets two renewals be missed before a member is forgotten. Who
	// holds work of a member watches it in shorter ways.
	advertLife = 3 * advertEvery
	// advertGap is the least time between two adverts that only tell of a
	// change, so that an owner who comes and goes does not shake the swarm.
	advertGap = 3 * time.Second
)

// advertise issues a new advert for this node and takes it in itself.
func (n *Node) advertise() {
	m := n.view.Manifest()
	if m.IsZero() {
		return // nothing to say before an overlay is followed
	}
	now := n.now()
	n.nextAdvert = now.Add(advertEvery - time.Duration(rand.Float64()*advertJitter*float64(advertEvery)))
	n.advertSeq = max(n.advertSeq+1, uint64(time.Now().UnixNano())) // though the clock be set back
	a := overlay.Advert{
		Peer: n.self, Overlay: n.cfg.Overlay,
		Seq: n.advertSeq, Issued: now, Expires: now.Add(advertLife),
		Addrs: n.net.AdvertAddrs(overlay.MaxAddrs), Reach: n.net.Reach(),
		State: n.advertState(), Slots: n.owner.Slots, Free: n.free(), Memory: n.owner.Memory,
		Speed: n.speed, Until: n.decision.Until, Manifest: m, Version: n.cfg.Version,
	}
	n.record(&a)
	if n.coordinator != nil {
		a.Epoch = n.epoch
	}
	if err := a.Sign(n.key); err != nil {
		n.log.Error("signing the advert", "err", err)
		return
	}
	n.advertised = a
	n.pending = append(n.pending, pending{advert: &a})
	n.seen(a)
}

// advertiseSoon has the advert issued again because something in it changed: at
// once, or when the gap after the last one is over.
func (n *Node) advertiseSoon() {
	if n.advertised.Seq == 0 {
		return // the first one is still to come and will tell
	}
	at := n.advertised.Issued.Add(advertGap)
	if at.Before(n.nextAdvert) {
		n.nextAdvert = at
	}
}

// renewAdvert issues the advert that is due.
func (n *Node) renewAdvert(now time.Time) {
	if !n.nextAdvert.IsZero() && !n.nextAdvert.After(now) {
		n.advertise()
	}
}

// free is how many of the slots have no task.
func (n *Node) free() int { return max(0, n.owner.Slots-len(n.running)) }

// freeChanged tells the overlay when the last slot fills or the first empties.
// What lies between is between this node and its coordinator.
func (n *Node) freeChanged() {
	if (n.free() == 0) != (n.advertised.Free == 0) {
		n.advertiseSoon()
	}
}
