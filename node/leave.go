package node

import (
	"time"

	"godwit/node/exec"
	"godwit/overlay"
)

const (
	// goodbyeTime bounds how long a node that is told to stop takes to hand over
	// what it has: a hand-over takes two round trips, and a person is waiting.
	goodbyeTime = 2 * time.Second
	// goodbyeMost is how long it takes while tasks are on their way to other members,
	// or their states are saved:
	// a state of 64 MiB is there in less over 100 Mbit/s. A person who waits longer
	// ends the program, and service managers wait for 90 s.
	goodbyeMost = 10 * time.Second
	// goodbyeOrder is how long a task waits then for the leader's word on where to:
	// a quarter of the time, so that its state can be saved and fetched in the rest.
	goodbyeOrder = goodbyeTime / 4
	// saveOnLeaving is how long that may take while this node goes: a guest of the
	// lowest priority on a machine that is busy takes seconds to come to a point where
	// it can be saved. As long is left to fetch what is saved.
	saveOnLeaving = goodbyeMost / 2
	// goodbyeLook is how often it looks whether it may go.
	goodbyeLook = 20 * time.Millisecond
	// goodbyeLinger is how long a node with nothing to hand over stays, so that its
	// goodbye is on the way before its connections close.
	goodbyeLinger = 50 * time.Millisecond
)

// leave begins the end of the node: it says that it goes, hands over the
// leadership and gives its tasks back, so that they go on elsewhere.
func (n *Node) leave() {
	n.log.Info("leaving")
	now := n.now()
	n.leaveBy, n.leaveMost = now.Add(goodbyeTime), now.Add(goodbyeMost)
	n.exec.Leave(goodbyeOrder, saveOnLeaving)
	for _, m := range n.ordered() {
		m.goodbye()
	}
}

// hasLeft says whether the node that leaves may go.
func (n *Node) hasLeft() bool {
	if n.leaveBy.IsZero() {
		return false
	}
	switch now := n.now(); {
	case !now.Before(n.leaveMost), !now.Before(n.leaveBy) && n.exec.Leaving() == 0:
		return true
	case now.Before(n.lingersUntil()):
		return false
	}
	for _, m := range n.members {
		if !m.isGone() {
			return false
		}
	}
	return true
}

// leaveLater has a node that leaves stay until what it has just saved is fetched: as
// long as a goodbye takes, at most.
func (n *Node) leaveLater() {
	if n.leaveBy.IsZero() {
		return
	}
	if by := n.now().Add(goodbyeTime); by.After(n.leaveBy) {
		n.leaveBy = by
		if by.After(n.leaveMost) {
			n.leaveBy = n.leaveMost
		}
	}
}

// lingersUntil is when a node that leaves may go at the earliest.
func (n *Node) lingersUntil() time.Time { return n.leaveMost.Add(goodbyeLinger - goodbyeMost) }

// goodbye says that this member goes.
func (m *membership) goodbye() {
	n := m.n
	m.leaving = true
	n.exec.Drop(func(of exec.Client) bool { return of == client{m} })
	n.shareOut() // the leader hears of it before the tasks end, and says where they go
	n.exec.SendAway(client{m})
	// One that leads has said where they go before it leads no longer: whoever leads
	// next would wait for reports first.
	n.spawn(func() {
		n.post(post{call: func() {
			if n.members[m.id] == m {
				m.obey(m.lease.Goodbye(n.now()))
				m.advertise()
			}
		}})
	})
}

// isGone says whether a member that said goodbye has nothing left to hand over.
func (m *membership) isGone() bool {
	if m.coordinator != nil {
		return false
	}
	running, queued, unacked := m.worker.Load()
	alone := len(m.view.Members()) <= 1
	return running+queued == 0 && (unacked == 0 || alone)
}

// sayGone tells the members that this one is none any more, at once: what was to
// be durable before is.
func (m *membership) sayGone() {
	m.out = true
	m.advertise()
	a := m.advertised
	if err := m.n.net.SetAdvert(a); err != nil {
		m.log.Warn("the others do not hear that this node has left", "err", err)
	}
}

// advertState is what others are told. Unavailable means a member that is gone,
// and this one still serves the overlay.
func (m *membership) advertState() overlay.State {
	switch {
	case m.out:
		return overlay.Unavailable
	case m.leaving:
		return overlay.Leaving
	case m.n.owner.State == overlay.Unavailable:
		return overlay.UserPresent
	}
	return m.n.owner.State
}
