package node

import (
	"context"
	"time"

	"godwit/member"
)

// loop runs the machines until ctx ends, the node has said goodbye after leave
// ended, or the store fails for good. It alone touches the node's state.
func (n *Node) loop(ctx, leave context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	leaving := leave.Done()
	for {
		over := false
		err := n.turn(func() error {
			select {
			case <-ctx.Done():
				over = true
				return nil
			case <-leaving:
				leaving = nil
				n.leave()
			case p := <-n.first:
				n.handle(p)
				n.drain(ctx)
			case p := <-n.looks:
				n.handle(p)
				n.drain(ctx)
			case p := <-n.inbox:
				n.handle(p)
				n.drain(ctx)
			case <-n.intake.ready:
				n.drain(ctx)
			case p := <-n.ends:
				n.handle(p)
				n.drain(ctx)
			case <-timer.C:
				n.wake()
			}
			if n.untilWake() == 0 { // others' posts do not hold up what is due
				n.wake()
			}
			return n.flush(ctx)
		})
		switch {
		case err != nil:
			return n.whatToDo(err)
		case over:
			return n.lastWords()
		}
		n.rank()
		if n.peer.HasLeft(n.now(), n.exec.Leaving() > 0) {
			return n.lastWords()
		}
		timer.Reset(n.untilWake())
	}
}

// lastWords makes durable up to when this node was there.
func (n *Node) lastWords() error {
	n.pending = nil // what was not carried out is as if it had not been asked for
	n.past.noteAt = n.now()
	n.notePast(n.past.noteAt)
	for _, m := range n.ordered() {
		for _, e := range m.Worker().Keep() {
			n.pending = append(n.pending, pending{of: m, machine: e})
		}
	}
	return n.store.commit(context.Background(), append(changesOf(n.pending), n.thankful.lastWords()...))
}

// wake wakes what time has made due.
func (n *Node) wake() {
	now := n.now()
	n.noteJump(now)
	if n.full {
		return
	}
	n.notePast(now)
	n.moveIfDue(now)
	n.measureIfDue(now)
	n.proofs.askIfDue(now)
	n.tallies.askIfDue(now)
	n.thankful.sayIfDue(now)
	n.tell(member.Wake{})
}

// untilWake returns how long the loop may sleep.
func (n *Node) untilWake() time.Duration {
	now := n.now()
	var next time.Time
	sooner := func(at time.Time, ok bool) {
		if ok && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	if n.full {
		return max(0, n.fullUntil.Sub(now))
	}
	sooner(n.past.noteAt, !n.past.noteAt.IsZero())
	sooner(n.moveAt, !n.moveAt.IsZero())
	sooner(n.measure, !n.measure.IsZero())
	sooner(n.proofs.askAt, !n.proofs.checking)
	sooner(n.tallies.askAt, true)
	sooner(n.thankful.at, true)
	sooner(n.peer.NextWake(n.exec.Leaving() > 0))
	if next.IsZero() {
		return time.Hour
	}
	return max(0, next.Sub(now))
}
