package member

import (
	"slices"
	"time"

	"godwit/overlay"
	"godwit/scheduler/message"
)

const (
	// advertJitter is by how much of advertEvery an advert may be renewed before it is due.
	advertJitter = 0.1
	// AdvertGap is the least time between two adverts that only tell of a change, so
	// that an owner who comes and goes does not shake the swarm.
	AdvertGap = 3 * time.Second
	// freeShare is how much of the time each member adds to within which the others tell by an
	// advert that they have a free slot again, or none: whoever listens hears two such adverts a second.
	// All begin at once where a job is large, each of many members hears each other, and only
	// pages show it: the leader knows who has what from reports.
	freeShare = 500 * time.Millisecond
	// freeFew members tell within AdvertGap: what all say at once is little among them.
	freeFew = 30
)

// freeGap is within which time one of so many members tells that its last slot filled or its
// first emptied.
func freeGap(members int) time.Duration {
	if members <= freeFew {
		return AdvertGap
	}
	return min(time.Duration(members)*freeShare, advertEvery)
}

// adverts are what this peer tells the overlay of itself.
type adverts struct {
	nextAdvert time.Time
	advertised overlay.Advert // the newest; its Seq is 0 before the first
	advertSeq  uint64         // of the newest
	freeDue    time.Time      // when it tells of its free slots, if that is news still; zero: it is none
}

// Advertised returns the newest advert; its Seq is 0 before the first.
func (a *adverts) Advertised() overlay.Advert { return a.advertised }

// Advertise issues a new advert for this peer and takes it in here.
func (m *Member) Advertise() { m.advertiseIn(m.cell, m.cell.Bits, m.descent.lineage) }

// advertiseIn tells the members of a cell of this one, which is in a cell of so many bits and with this lineage.
func (m *Member) advertiseIn(cell overlay.Cell, bits uint8, lineage overlay.Lineage) {
	p := m.p
	jitter := time.Duration(p.cfg.Draw() * advertJitter * float64(advertEvery))
	m.nextAdvert = p.now.Add(advertEvery - jitter)
	wall := p.world.Wall()
	m.advertSeq = max(m.advertSeq+1, uint64(wall.UnixNano())) // though the clock be set back
	a := overlay.Advert{
		Peer: p.cfg.Self, Overlay: m.id, Pass: m.pass, Rules: m.manifest.Version,
		Seq: m.advertSeq, Issued: wall, Expires: wall.Add(AdvertLife),
		State: m.advertState(), Slots: m.told.Slots, Free: m.free(), Memory: m.told.Memory,
		Until: p.lent.State.Until,
	}
	p.world.Describe(&a)
	m.tellPast(&a)
	if a.Bits = bits; m.inCells() && m.view.Len() >= m.cellRule().Ready {
		a.MarkCells()
	}
	leader, epoch := m.lease.Leader()
	switch {
	case m.coordinator != nil:
		if a.Epoch = m.coordinator.Epoch(); bits > 0 && len(lineage) == int(bits) {
			a.Division = lineage[bits-1]
		}
		if g := m.lease.Group(); len(g) > 1 {
			a.Group = slices.Clone(g[1:])
		}
	case bits > 0 && leader != "":
		a.Follows = overlay.FollowsOf(m.id, leader, epoch)
	}
	if !p.cfg.Unsigned {
		if err := a.Sign(p.cfg.Key); err != nil {
			m.notice(Error, "signing the advert", "err", err)
			return
		}
	}
	m.advertised, m.freeDue = a, time.Time{}
	p.emit(Gossip{Of: m, Advert: a, Cell: cell})
	m.seen(&a)
}

// AdvertiseSoon has the advert issued again because something in it changed: at once,
// or when the gap after the last one is over.
func (m *Member) AdvertiseSoon() {
	if m.advertised.Seq == 0 {
		return // the first one is still to come and will tell
	}
	if at := m.advertised.Issued.Add(AdvertGap); at.Before(m.nextAdvert) {
		m.nextAdvert = at
	}
}

// free is how many of the slots have no task.
func (m *Member) free() int {
	running, _, _ := m.worker.Load()
	return max(0, min(m.told.Slots-running, m.p.lent.State.Slots-m.p.countGuests()))
}

// FreeChanged tells the overlays when the last slot fills or the first empties, later the
// more members would hear it. What lies between is between this peer and its coordinators.
func (p *Peer) FreeChanged() {
	for _, m := range p.members {
		switch news := freeIsNews(m); {
		case !news:
			m.freeDue = time.Time{}
		case m.view.Len() <= freeFew:
			m.AdvertiseSoon()
		case m.freeDue.IsZero():
			m.freeDue = tellsFreeAt(m)
		}
	}
}

// freeIsNews says whether others believe that this peer has a slot where it has none, or has none where
// it has one.
func freeIsNews(m *Member) bool {
	return m.advertised.Seq != 0 && (m.free() == 0) != (m.advertised.Free == 0)
}

// tellsFreeAt draws when this peer tells of its free slots: at any time within what many take.
func tellsFreeAt(m *Member) time.Time {
	at, gap := m.advertised.Issued.Add(AdvertGap), freeGap(m.view.Len())
	if drawn := m.p.now.Add(time.Duration(m.p.cfg.Draw() * float64(gap))); drawn.After(at) {
		return drawn
	}
	return at
}

// tellFree tells of the free slots when that is due, if it is news still.
func tellFree(m *Member, now time.Time) {
	if m.freeDue.IsZero() || m.freeDue.After(now) {
		return
	}
	m.freeDue = time.Time{}
	if freeIsNews(m) {
		m.Advertise()
	}
}

// advertState is what others are told. Unavailable means a member that is gone, and
// this one still serves the overlay.
func (m *Member) advertState() overlay.State {
	switch {
	case m.out:
		return overlay.Unavailable
	case m.leaving:
		return overlay.Leaving
	case m.p.lent.State.State == overlay.Unavailable:
		return overlay.UserPresent
	}
	return m.p.lent.State.State
}

// Told returns what the member's worker may use, as it heard last.
func (s *slots) Told() message.OwnerState { return s.told }
