package swarm

import (
	"time"

	"godwit/scheduler"
	"godwit/scheduler/message"
)

func (n *node) role() machine {
	if n.coordinator != nil {
		return n.coordinator
	}
	return n.replica
}

// has says whether a machine is still one of the node's.
func (n *node) has(m machine) bool {
	switch m := m.(type) {
	case *scheduler.Coordinator:
		return m == n.coordinator
	case *scheduler.Replica:
		return m == n.replica
	}
	return true
}

func (n *node) step(m machine, ev message.Event) {
	if n.has(m) {
		n.do(m, m.Step(n.w.clock, ev))
	}
}

// do has effects carried out at the end of the turn.
func (n *node) do(from machine, effects []message.Effect) {
	for _, e := range effects {
		n.pending = append(n.pending, pending{effect: e, from: from})
	}
}

// tell gives an event to every machine.
func (n *node) tell(ev message.Event) {
	n.step(n.role(), ev)
	n.step(n.worker, ev)
	n.step(n.submitter, ev)
}

// received gives a message to the machine that it is for; the others would
// ignore it.
func (n *node) received(from peerID, m message.Message) {
	ev := message.Received{From: from, Message: m}
	switch {
	case m.Place != nil || m.Ack != nil:
		n.step(n.worker, ev)
	case m.Accepted != nil || m.Progress != nil:
		n.step(n.submitter, ev)
	case m.Known != nil:
		if _, member := n.view.Member(from); member {
			n.step(n.role(), ev)
		}
	default:
		n.step(n.role(), ev)
	}
}

// turn does something at the node, with all that follows from it at once.
func (n *node) turn(do func()) {
	if n.turning { // something that a turn does to its own node is part of it
		do()
		return
	}
	n.turning = true
	do()
	n.flush()
	n.turning = false
	if n.hasLeft() {
		n.leave()
		return
	}
	n.arrange()
}

// flush carries out the pending effects in order, until nothing is left.
func (n *node) flush() {
	for {
		n.shareOut()
		if len(n.pending) == 0 {
			return
		}
		effects := n.pending
		n.pending = nil
		for i := range effects {
			n.carryOut(&effects[i])
		}
		lines, own := n.lines, n.own
		n.lines, n.own = nil, nil
		for _, l := range lines {
			n.send(l.to, l.messages)
		}
		for _, m := range own {
			n.received(n.id, m)
		}
	}
}

// arrange sets the node's timer to what comes next.
func (n *node) arrange() {
	var at time.Time
	sooner := func(t time.Time, ok bool) {
		if ok && (at.IsZero() || t.Before(at)) {
			at = t
		}
	}
	sooner(n.nextAdvert, true)
	sooner(n.expiry, !n.expiry.IsZero())
	if n.lookedAt() {
		sooner(n.regroupAt, true)
		if n.leaseAgain { // it is asked in each turn otherwise
			n.leaseAt, n.leaseAgain = n.lease.Next(), false
		}
		sooner(n.leaseAt, true)
	}
	if n.judgeAgain { // it looks at all members
		n.judgeAgain = false
		n.judgeAt, _ = n.suspicion.Next()
	}
	sooner(n.judgeAt, !n.judgeAt.IsZero())
	if n.leaving && !n.w.clock.Before(n.leaveBy) {
		sooner(n.leaveMost, true)
	} else {
		sooner(n.leaveBy, n.leaving)
	}
	sooner(n.lingersUntil(), n.leaving && n.w.clock.Before(n.lingersUntil()))
	sooner(n.moveAt, !n.moveAt.IsZero())
	sooner(n.role().NextWake())
	sooner(n.worker.NextWake())
	sooner(n.submitter.NextWake())
	if at.Before(n.w.clock) {
		at = n.w.clock
	}
	if at.Equal(n.wakeAt) {
		return
	}
	n.wakeAt = at
	life := n.life
	n.w.queue.add(at.Sub(n.w.base), talking, func() {
		if n.up && n.life == life && n.wakeAt.Equal(at) {
			n.wakeAt = time.Time{}
			n.turn(n.wake)
		}
	})
}

// wake does what time has made due, in the order of a live node.
func (n *node) wake() {
	now := n.w.clock
	n.moveIfDue()
	if !n.judgeAt.IsZero() && !n.judgeAt.After(now) {
		n.judge(n.suspicion.Tick(now))
	}
	n.expireMembers(now)
	if !n.nextAdvert.After(now) {
		n.advertise()
	}
	if n.lookedAt() && !n.regroupAt.After(now) {
		n.regroup(now)
	}
	if n.lookedAt() && !n.lease.Next().After(now) {
		n.obey(n.lease.Tick(now))
	}
	for _, m := range []machine{n.role(), n.worker, n.submitter} {
		if at, ok := m.NextWake(); ok && !at.After(now) {
			n.step(m, message.Wake{})
		}
	}
}
