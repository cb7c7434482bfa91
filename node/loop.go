package node

import (
	"context"
	"time"

	"godwit/overlay"
	"godwit/scheduler/message"
)

// A machine is one of the scheduler's: see the driver's duties there.
type machine interface {
	Step(now time.Time, ev message.Event) []message.Effect
	NextWake() (time.Time, bool)
}

// A post is one thing for the loop to do: an event for one machine of an overlay
// or for all of all overlays (of nil), or a function to call with the loop's
// state in hand.
type post struct {
	event message.Event
	of    *membership
	to    machine
	call  func()
}

// A pending effect remembers who asked, so that the answer finds its way back.
// This node's own adverts and what its leases say wait among them: they may
// announce a term, which has to be durable first.
type pending struct {
	effect message.Effect      // or
	advert *overlay.Advert     // or
	lease  overlay.LeaseEffect // one of the kinds that are sent
	of     *membership         // nil for what is the node's own
	from   machine
}

const (
	// inboxSize bounds what waits for the loop. Beyond it the network's
	// readers wait, which is the back-pressure on peers.
	inboxSize = 1024
	// batchSize bounds how many posts share one durable commit. A commit
	// costs milliseconds whatever its size, so under load the batch grows.
	batchSize = 1024
)

// loop runs the machines until ctx ends, the node has said goodbye after leave
// ended, or the store fails for good. It alone touches the node's state.
func (n *Node) loop(ctx, leave context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	leaving := leave.Done()
	for {
		select {
		case <-ctx.Done():
			return n.lastWords()
		case <-leaving:
			leaving = nil
			n.leave()
		case p := <-n.inbox:
			n.handle(p)
			n.drain(ctx)
		case p := <-n.ends:
			n.handle(p)
			n.drain(ctx)
		case <-timer.C:
			n.wake()
		}
		if err := n.flush(ctx); err != nil {
			return n.whatToDo(err)
		}
		if n.hasLeft() {
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
		m.do(m.worker, m.worker.Keep())
	}
	return n.store.commit(context.Background(), changesOf(n.pending))
}

// drain handles what else has arrived, so that one commit serves it all.
func (n *Node) drain(ctx context.Context) {
	for range batchSize {
		n.serveEnds(ctx)
		select {
		case p := <-n.inbox:
			n.handle(p)
		default:
			return
		}
	}
}

func (n *Node) handle(p post) {
	switch {
	case p.call != nil:
		p.call()
	default:
		p.of.step(p.to, p.event)
	}
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
	n.departIfDue(now)
	n.judge(n.suspicion.Tick(now))
	for _, m := range n.ordered() {
		m.wake(now)
	}
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
	if at := n.departure(); n.departing.IsZero() {
		sooner(at, !at.IsZero())
	}
	sooner(n.suspicion.Next())
	if !n.leaveBy.IsZero() {
		if now.Before(n.leaveBy) || n.exec.Leaving() == 0 {
			sooner(n.leaveBy, true)
		} else {
			sooner(n.leaveMost, true)
		}
		sooner(n.lingersUntil(), now.Before(n.lingersUntil()))
	}
	for _, m := range n.members {
		m.nextWake(sooner)
	}
	if next.IsZero() {
		return time.Hour
	}
	return max(0, next.Sub(now))
}

// post hands p to the loop, waiting while the inbox is full, and gives up when
// the node stops.
func (n *Node) post(p post) {
	select {
	case n.inbox <- p:
	case <-n.stopped:
	}
}

// do runs f on the loop and returns when it has run, or with an error when the
// node stops or ctx ends first.
func (n *Node) do(ctx context.Context, f func()) error {
	ran := make(chan struct{})
	select {
	case n.inbox <- post{call: func() { f(); close(ran) }}:
	case <-n.stopped:
		return ErrStopped
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-ran:
		return nil
	case <-n.stopped:
		return ErrStopped
	}
}

// flush carries out the pending effects: what must be durable first, in one
// commit, then the rest in order. Messages to this node's own machines are
// events again, so it goes on until nothing is left.
func (n *Node) flush(ctx context.Context) error {
	if n.full && n.now().Before(n.fullUntil) {
		n.sayWhileFull(ctx)
		return nil
	}
	for {
		n.shareOut()
		if len(n.pending) == 0 {
			break
		}
		effects := n.pending
		n.pending = nil
		if err := n.persist(ctx, effects); isFull(err) {
			n.diskFull(effects, err)
			n.sayWhileFull(ctx)
			return nil
		} else if err != nil {
			return err
		}
		if n.full {
			n.roomAgain()
		}
		out := outgoing{}
		for _, p := range effects {
			n.carryOut(ctx, p, &out)
		}
		n.sendAll(&out)
		for _, own := range out.own {
			own.to.tell(message.Received{From: n.self, Message: own.message})
		}
	}
	n.watchers.notify()
	return nil
}
