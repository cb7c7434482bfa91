package member

import (
	"maps"
	"slices"
	"time"

	"godwit/overlay"
	"godwit/scheduler/message"
	"godwit/task"
	"godwit/trace"
)

const (
	// advertEvery is how often an advert is renewed though nothing changed, less up to
	// advertJitter of it. An overlay of a thousand tells each of its members a thousand
	// adverts in this time: docs/protocol.md has what that costs.
	advertEvery = 15 * time.Minute
	// AdvertLife lets two renewals be missed before a member is forgotten. Who holds
	// work of a member watches it in shorter ways.
	AdvertLife = 3 * advertEvery
	// AdvertSpells is the most spells of its history that a member tells in an advert.
	AdvertSpells = 8
)

// A roster is who is a member of the overlay, as far as this peer knows.
type roster struct {
	view   *overlay.View
	away   map[task.PeerID]overlay.Advert // newest adverts of lost members, until they expire
	gone   map[task.PeerID]time.Time      // members that this peer lost while it led, and when
	expiry time.Time                      // not after the first advert's end; zero for none

	acquainted acquaintances
}

func newRoster(id overlay.ID) roster {
	return roster{view: overlay.NewView(id), away: map[task.PeerID]overlay.Advert{}, gone: map[task.PeerID]time.Time{}}
}

// readTogether reports whether all members, those who were lost among them, say that they read results that were
// signed together, and the one whose job these are of is known to be one: anybody may come to coordinate.
func (r *roster) readTogether(submitter task.PeerID) bool {
	if !r.view.Has(submitter) {
		return false
	}
	for _, a := range r.away {
		if !a.ReadsTogether() {
			return false
		}
	}
	return r.view.All((*overlay.Advert).ReadsTogether)
}

// View returns who is a member. It is read only.
func (r *roster) View() *overlay.View { return r.view }

// Away returns the newest adverts of members that were lost and have not expired, in no
// order.
func (r *roster) Away() []overlay.Advert { return slices.Collect(maps.Values(r.away)) }

// Network returns the public network that a member is in, or was when it was lost; "" where its
// addresses do not tell.
func (r *roster) Network(peer task.PeerID) string {
	a, ok := r.view.Member(peer)
	if !ok {
		a = r.away[peer]
	}
	return overlay.PublicNetworkOf(a.Addrs)
}

// Workers are the members that lend slots, by their adverts, in order.
func (r *roster) Workers() []task.PeerID { return r.view.Workers() }

// Peers are all members, in order.
func (r *roster) Peers() []task.PeerID { return slices.Sorted(r.view.Peers()) }

// seen takes in an advert whose signature has been checked.
func (m *Member) seen(a *overlay.Advert) {
	if m.elsewhere(a) || stillLost(m, a) {
		return
	}
	old, known := m.view.Member(a.Peer)
	if !m.view.Seen(a) {
		return
	}
	m.meet(a.Peer)
	m.levels.Seen(a.Peer, m.p.now)
	changed := !known || old.State != a.State || old.Reach != a.Reach
	if changed { // what it claims is judged by a draw with it
		m.ranks = ranks{}
	}
	if m.expiry.IsZero() || a.Expires.Before(m.expiry) {
		m.expiry = a.Expires
	}
	own := a.Peer == m.p.cfg.Self
	m.witness(a, old.Issued, known)
	m.hearPast(a)
	if !own {
		m.p.judge(m.p.suspicion.Advertised(a.Peer, m.p.now))
	}
	m.step(m.Role(), message.MemberSeen{Advert: *a})
	if a.Rules > m.manifest.Version && !own && !m.asking {
		m.asking = true
		m.p.emit(FetchRules{Of: m, From: a.Peer})
	}
	m.claimed(a)
	if len(m.stored.Reigns) == 0 { // not stored while this member led or followed without knowing another member
		m.keepCell()
	}
	if a.State == overlay.Unavailable && !own {
		m.lost(a.Peer, "it has left the overlay")
		delete(m.away, a.Peer)
		return
	}
	if changed {
		m.regroupSoon()
	}
}

// lost forgets a member.
func (m *Member) lost(peer task.PeerID, reason string) {
	a, ok := m.view.Member(peer)
	if !ok {
		return
	}
	m.away[peer] = a
	m.missed(peer)
	m.view.Lost(peer)
	m.goneFrom(peer, reason)
}

// goneFrom tells whom it concerns that a peer is no member now.
func (m *Member) goneFrom(peer task.PeerID, reason string) {
	delete(m.foreseen, peer)
	coordinated := slices.Contains(m.lease.Group(), peer)
	m.step(m.Role(), message.MemberLost{Peer: peer, Reason: reason})
	m.catchUp()
	m.lease.Lost(peer, m.p.now)
	m.leaderMayHaveChanged()
	if m.regroupSoon(); coordinated {
		regroupNow(m)
	}
}

// stillLost reports whether an advert is of a member that was lost, and says nothing of now: it is kept for
// when the member is there again. The member is asked whether it is.
func stillLost(m *Member, a *overlay.Advert) bool {
	old, lost := m.away[a.Peer]
	if !lost || a.Seq < old.Seq || a.State == overlay.Unavailable || m.view.Admits(a) != nil {
		return false
	}
	there, effects := m.p.suspicion.Told(a.Peer, a.Issued, m.p.now)
	if there {
		return false
	}
	m.away[a.Peer] = *a
	m.p.judge(effects)
	return true
}

// returned takes in a lost member again once it is there: the network tells of an
// advert only once, and its next one may be a quarter of an hour away.
func (m *Member) returned(peer task.PeerID) {
	a, ok := m.away[peer]
	delete(m.away, peer)
	if ok && a.Expires.After(m.p.now) {
		m.seen(&a)
	}
}

// expire forgets members whose adverts are too old.
func (m *Member) expire(now time.Time) {
	if m.expiry.IsZero() || m.expiry.After(now) {
		return
	}
	maps.DeleteFunc(m.away, func(_ task.PeerID, a overlay.Advert) bool { return !a.Expires.After(now) })
	for _, peer := range m.view.Expire(now) {
		m.p.suspicion.Forget(peer)
		m.missed(peer)
		m.goneFrom(peer, "its advert expired")
	}
	m.expiry, _ = m.view.NextExpiry()
}

// ofCell reports whether a peer is a member of this one's cell, or was when it was lost.
func (r *roster) ofCell(peer task.PeerID) bool {
	if r.view.Has(peer) {
		return true
	}
	_, away := r.away[peer]
	return away
}

// Admits reports whether a peer may speak in the overlay: in an open one anybody,
// else those whose adverts show that they may.
func (m *Member) Admits(peer task.PeerID) bool {
	if m.manifest.Admission == overlay.Open {
		return true
	}
	return knows{m}.Member(peer)
}

// A leader relies on its members, and so sees when they are gone. What it saw is
// compared with what they say of themselves.

// missed notes that a member is gone, if this peer leads.
func (m *Member) missed(peer task.PeerID) {
	if _, known := m.gone[peer]; m.coordinator != nil && !known && peer != m.p.cfg.Self {
		m.gone[peer] = m.p.now
	}
}

// witness compares a member's new advert with what was seen of the member; its last
// one, if known, was issued at before.
func (m *Member) witness(a *overlay.Advert, before time.Time, known bool) {
	if a.Peer == m.p.cfg.Self {
		return
	}
	from, absent := m.gone[a.Peer]
	delete(m.gone, a.Peer)
	switch {
	case absent:
		m.p.standing.Absent(a.Peer, from, m.p.now)
	case known && m.coordinator != nil:
		m.p.standing.Present(a.Peer, min(a.Issued.Sub(before), AdvertLife))
	}
	const slack = 4 // a history in an advert has a handful of spells; this bounds a hostile one
	h, err := trace.DecodeSpells(a.Spells, slack*AdvertSpells)
	if err != nil || h.Len() == 0 {
		return
	}
	m.p.standing.Claims(a.Peer, h)
}
