package member

import (
	"maps"
	"time"

	"godwit/overlay"
	"godwit/scheduler/submitter"
	"godwit/task"
)

const (
	// maxMet bounds the peers whose first advert is remembered, of about 100 bytes each.
	maxMet = 16384
	// metSlack is how much later than its lease a worker's first advert may arrive here: two clocks differ by up to
	// MaxSkew, and an advert may reach the leader first.
	metSlack = 2 * overlay.MaxSkew
	// deafAfter is how long a member must hear no advert at all, its own included, to count as having been away. A
	// machine that was asleep hears none.
	deafAfter = 2 * advertEvery
)

// acquaintances are when this node first had an advert of each member, by its wall clock. The zero value is ready.
type acquaintances struct {
	first map[task.PeerID]time.Time
	since time.Time // when this node began to hear adverts, after it started or was away
	heard time.Time // when it last heard one
}

// meet notes that an advert of a peer arrived. keep reports which peers to keep if there are too many.
func (a *acquaintances) meet(peer task.PeerID, now time.Time, keep func(task.PeerID) bool) {
	if a.since.IsZero() || now.Sub(a.heard) > deafAfter {
		a.since = now
	}
	a.heard = now
	if _, known := a.first[peer]; known {
		return
	}
	if len(a.first) >= maxMet {
		maps.DeleteFunc(a.first, func(p task.PeerID, _ time.Time) bool { return !keep(p) })
	}
	if len(a.first) >= maxMet {
		return
	}
	if a.first == nil {
		a.first = map[task.PeerID]time.Time{}
	}
	a.first[peer] = now
}

// met reports whether this node had an advert of a peer at a time. If this node was away then, an advert that arrived
// soon after its return is enough.
func (a *acquaintances) met(peer task.PeerID, at time.Time) bool {
	first, known := a.first[peer]
	if at.Before(a.since) {
		at = a.since
	}
	return known && !first.After(at.Add(metSlack))
}

// evidence is what a member gives its submitter to judge receipts and workers by.
type evidence struct{ m *Member }

// Led implements submitter.Evidence.
func (e evidence) Led(peer task.PeerID, epoch uint64) bool {
	return e.m.lease != nil && e.m.lease.Led(peer, epoch)
}

// Followed implements submitter.Evidence.
func (e evidence) Followed(peer task.PeerID, epoch uint64) bool {
	return e.m.lease != nil && e.m.lease.Followed(peer, epoch)
}

// MayHaveLed implements submitter.Evidence.
func (e evidence) MayHaveLed(peer task.PeerID, epoch uint64) bool {
	return e.m.lease != nil && e.m.lease.MayHaveLed(peer, epoch)
}

// Tagged implements submitter.Evidence.
func (e evidence) Tagged(peer task.PeerID, epoch uint64) bool { return overlay.Tagged(epoch, peer) }

// Met implements submitter.Evidence.
func (e evidence) Met(worker task.PeerID, at time.Time) bool { return e.m.acquainted.met(worker, at) }

var _ submitter.Evidence = evidence{}

// meet notes that a verified advert of a member of this or another cell arrived.
func (m *Member) meet(peer task.PeerID) {
	m.acquainted.meet(peer, m.p.world.Wall(), func(p task.PeerID) bool { return knows{m}.Member(p) })
}
