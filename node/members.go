package node

import (
	"maps"
	"time"

	"godwit/overlay"
	"godwit/scheduler/message"
	"godwit/task"
)

// seen takes in an advert whose signature has been checked.
func (m *membership) seen(a overlay.Advert) {
	old, known := m.view.Member(a.Peer)
	if !m.view.Seen(a) {
		return
	}
	m.witness(&a, old.Issued, known)
	if a.Peer != m.n.self {
		m.n.judge(m.n.suspicion.Advertised(a.Peer, m.n.now()))
	}
	m.tell(message.MemberSeen{Advert: a})
	if a.Rules > m.manifest.Version && a.Peer != m.n.self {
		m.askManifest(a.Peer)
	}
	if a.Epoch > 0 {
		m.obey(m.lease.Claimed(a.Peer, a.Epoch, m.n.now()))
	}
	if a.State == overlay.Unavailable && a.Peer != m.n.self {
		m.lost(a.Peer, "it has left the overlay")
		delete(m.away, a.Peer)
		return
	}
	if !known || old.State != a.State || old.Reach != a.Reach {
		m.regroupSoon()
	}
}

// lost forgets a member.
func (m *membership) lost(peer task.PeerID, reason string) {
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
func (m *membership) goneFrom(peer task.PeerID, reason string) {
	m.tell(message.MemberLost{Peer: peer, Reason: reason})
	m.lease.Lost(peer, m.n.now())
	m.leaderMayHaveChanged()
	m.regroupSoon()
}

// returned takes in a lost member again once it is there: the network tells of
// an advert only once, and its next one may be a quarter of an hour away.
func (m *membership) returned(peer task.PeerID) {
	a, ok := m.away[peer]
	delete(m.away, peer)
	if ok && a.Expires.After(m.n.now()) {
		m.seen(a)
	}
}

func (m *membership) expireMembers(now time.Time) {
	maps.DeleteFunc(m.away, func(_ task.PeerID, a overlay.Advert) bool { return !a.Expires.After(now) })
	for _, peer := range m.view.Expire(now) {
		m.n.suspicion.Forget(peer)
		m.missed(peer)
		m.goneFrom(peer, "its advert expired")
	}
}

// wake does what time has made due for the membership.
func (m *membership) wake(now time.Time) {
	m.expireMembers(now)
	m.renewAdvert(now)
	m.foundIfAlone(now)
	if !m.regroupAt.After(now) {
		m.regroup(now)
	}
	if !m.lease.Next().After(now) {
		m.obey(m.lease.Tick(now))
	}
	for _, to := range m.machines() {
		if at, ok := to.NextWake(); ok && !at.After(now) {
			m.step(to, message.Wake{})
		}
	}
}

// nextWake calls sooner with each time at which wake has something to do.
func (m *membership) nextWake(sooner func(time.Time, bool)) {
	sooner(m.nextAdvert, !m.nextAdvert.IsZero())
	sooner(m.view.NextExpiry())
	sooner(m.foundAt, !m.foundAt.IsZero())
	sooner(m.regroupAt, true)
	sooner(m.lease.Next(), true)
	sooner(m.busy, !m.busy.IsZero())
	for _, to := range m.machines() {
		sooner(to.NextWake())
	}
}
