package member

import "time"

const (
	// GoodbyeTime bounds how long a peer that is told to stop takes to hand over what
	// it has: a hand-over takes two round trips, and a person is waiting.
	GoodbyeTime = 2 * time.Second
	// GoodbyeMost is how long it takes while guests are on their way to other members,
	// or their states are saved: a state of 64 MiB is there in less over 100 Mbit/s. A
	// person who waits longer ends the program, and service managers wait for 90 s.
	GoodbyeMost = 10 * time.Second
	// GoodbyeOrder is how long a task waits then for the leader's word on where to: a
	// quarter of the time, so that its state can be saved and fetched in the rest.
	GoodbyeOrder = GoodbyeTime / 4
	// goodbyeLinger is how long a peer with nothing to hand over stays, so that its
	// goodbye is on the way before its connections close.
	goodbyeLinger = 50 * time.Millisecond
)

// Leave begins the end of the peer: each member is to say goodbye next.
func (p *Peer) Leave() {
	p.leaveBy, p.leaveMost = p.now.Add(GoodbyeTime), p.now.Add(GoodbyeMost)
}

// Leaves reports whether the peer is on its way out.
func (p *Peer) Leaves() bool { return !p.leaveBy.IsZero() }

// HasLeft reports whether a peer that leaves may go at a time. leaves says that guests
// are on their way to other members, or being saved.
func (p *Peer) HasLeft(now time.Time, leaves bool) bool {
	switch {
	case p.leaveBy.IsZero():
		return false
	case !now.Before(p.leaveMost), !now.Before(p.leaveBy) && !leaves:
		return true
	case now.Before(p.lingersUntil()):
		return false
	}
	for _, m := range p.members {
		if !m.IsGone() {
			return false
		}
	}
	return true
}

// LeaveLater has a peer that leaves stay until what it has just saved is fetched: as
// long as a goodbye takes, at most.
func (p *Peer) LeaveLater() {
	if p.leaveBy.IsZero() {
		return
	}
	if by := p.now.Add(GoodbyeTime); by.After(p.leaveBy) {
		p.leaveBy = by
		if by.After(p.leaveMost) {
			p.leaveBy = p.leaveMost
		}
	}
}

// lingersUntil is when a peer that leaves may go at the earliest.
func (p *Peer) lingersUntil() time.Time { return p.leaveMost.Add(goodbyeLinger - GoodbyeMost) }

// nextGoodbye takes in each time at which a peer that leaves may go.
func (p *Peer) nextGoodbye(leaves bool, first *soonest) {
	if p.leaveBy.IsZero() {
		return
	}
	if p.now.Before(p.leaveBy) || !leaves {
		first.by(p.leaveBy, true)
	} else {
		first.by(p.leaveMost, true)
	}
	first.by(p.lingersUntil(), p.now.Before(p.lingersUntil()))
}

// Depart has the worker's leader hear that the member goes, before its tasks end: the
// leader says where they go. Goodbye is to follow in another step, so that a peer that
// leads has said it before it leads no longer: whoever leads next would wait for
// reports first.
func (m *Member) Depart() {
	m.leaving, m.p.shared = true, false
	m.p.shareOut()
}

// Goodbye hands the leadership over and tells the others that this member goes.
func (m *Member) Goodbye() {
	m.catchUp()
	m.obey(m.lease.Goodbye(m.p.now))
	m.Advertise()
}

// IsGone reports whether a member that said goodbye has nothing left to hand over.
func (m *Member) IsGone() bool {
	if m.coordinator != nil {
		return false
	}
	running, queued, unacked := m.worker.Load()
	alone := len(m.view.Members()) <= 1
	return running+queued == 0 && (unacked == 0 || alone)
}

// SayGone tells the members that this one is none any more; Advertised is then the advert
// that says so. Results that no leader has are made durable first.
func (m *Member) SayGone() {
	m.out = true
	m.do(m.worker, m.worker.Keep())
	m.Advertise()
}

// IsOut reports whether the member has said that it is none any more.
func (m *Member) IsOut() bool { return m.out }
