package swarm

import (
	"time"

	"godwit/member"
	"godwit/scheduler/message"
)

// tell gives an event to the node's part in the overlay; what it asks for is done at
// the end of the turn.
func (n *node) tell(ev member.Event) {
	n.pending = append(n.pending, n.peer.Step(n.w.clock, ev)...)
}

// at does something with the node's part in the overlay, as tell does.
func (n *node) at(do func()) { n.pending = append(n.pending, n.peer.At(n.w.clock, do)...) }

// step gives a machine the answer to an effect of its.
func (n *node) step(to machine, ev message.Event) {
	n.tell(member.Answered{Of: n.m, To: to, Event: ev})
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
	if n.peer.HasLeft(n.w.clock, n.onTheWay()) {
		n.leave()
		return
	}
	n.arrange()
}

// flush carries out the pending effects in order, until nothing is left; first those
// that ask something.
func (n *node) flush() {
	for {
		n.pending = append(n.pending, n.peer.Settle(n.w.clock)...)
		if len(n.pending) == 0 {
			return
		}
		effects := n.pending
		n.pending = n.spare[:0]
		for _, e := range effects {
			if member.Asks(e) {
				n.ask(e)
			}
		}
		for _, e := range effects {
			n.carryOut(e)
		}
		n.spare = effects
		clear(effects)
		lines, own := n.lines, n.own
		n.lines, n.own = nil, nil
		for _, l := range lines {
			n.send(l.to, l.messages)
		}
		n.hear(n, own, &n.ownWords)
		if n.lines == nil {
			clear(lines)
			n.lines = lines[:0]
		}
		n.w.letters.emptied(own)
	}
}

// arrange sets the node's timer to what comes next.
func (n *node) arrange() {
	at, ok := n.peer.NextWake(n.onTheWay())
	if !n.moveAt.IsZero() && (!ok || n.moveAt.Before(at)) {
		at = n.moveAt
	}
	if at.Before(n.w.clock) {
		at = n.w.clock
	}
	if at.Equal(n.wakeAt) {
		return
	}
	n.wakeAt = at
	n.w.queue.add(at.Sub(n.w.base), talking, n.woken)
}

// waking is what the timer of this life of the node does. A time that was arranged and is
// not the one that comes next any more is passed over.
func (n *node) waking() func() {
	life, wake := n.life, n.wake
	return func() {
		if n.up && n.life == life && n.wakeAt.Equal(n.w.clock) {
			n.wakeAt = time.Time{}
			n.turn(wake)
		}
	}
}

// wake does what time has made due, in the order of a live node.
func (n *node) wake() {
	n.moveIfDue()
	n.tell(member.Wake{})
}
