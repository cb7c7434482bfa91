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
func (m *membership) advertise() {
	n := m.n
	now := n.now()
	m.nextAdvert = now.Add(advertEvery - time.Duration(rand.Float64()*advertJitter*float64(advertEvery)))
	wall := n.clock.wall()
	m.advertSeq = max(m.advertSeq+1, uint64(wall.UnixNano())) // though the clock be set back
	slots := m.told.Slots
	a := overlay.Advert{
		Peer: n.self, Overlay: m.id, Pass: m.pass, Rules: m.manifest.Version,
		Seq: m.advertSeq, Issued: wall, Expires: wall.Add(advertLife),
		Addrs: n.net.AdvertAddrs(overlay.MaxAddrs), Reach: n.net.Reach(),
		State: m.advertState(), Slots: slots, Free: m.free(), Memory: m.told.Memory,
		Speed: n.speed, Until: n.decision.Until, Version: n.cfg.Version, Site: n.cfg.Site,
	}
	n.record(&a)
	if m.coordinator != nil {
		a.Epoch = m.coordinator.Epoch()
	}
	if err := a.Sign(n.key); err != nil {
		m.log.Error("signing the advert", "err", err)
		return
	}
	m.advertised = a
	n.pending = append(n.pending, pending{advert: &a, of: m})
	m.seen(a)
}

// advertiseSoon has the advert issued again because something in it changed: at
// once, or when the gap after the last one is over.
func (m *membership) advertiseSoon() {
	if m.advertised.Seq == 0 {
		return // the first one is still to come and will tell
	}
	at := m.advertised.Issued.Add(advertGap)
	if at.Before(m.nextAdvert) {
		m.nextAdvert = at
	}
}

// advertiseSoon has the adverts for all overlays issued again.
func (n *Node) advertiseSoon() {
	for _, m := range n.ordered() {
		m.advertiseSoon()
	}
}

// addrsChanged is called by the network when others are to reach this node in
// other ways than before.
func (n *Node) addrsChanged() { n.post(post{call: n.advertiseSoon}) }

// renewAdvert issues the advert that is due.
func (m *membership) renewAdvert(now time.Time) {
	if !m.nextAdvert.After(now) {
		m.advertise()
	}
}

// free is how many of the slots have no task.
func (m *membership) free() int {
	running, _, _ := m.worker.Load()
	return max(0, min(m.told.Slots-running, m.n.owner.Slots-m.n.exec.Count()))
}

// freeChanged tells the overlays when the last slot fills or the first empties.
// What lies between is between this node and its coordinators.
func (n *Node) freeChanged() {
	for _, m := range n.ordered() {
		if (m.free() == 0) != (m.advertised.Free == 0) {
			m.advertiseSoon()
		}
	}
}
