package node

import (
	"context"
	"time"

	"godwit/overlay"
	"godwit/scheduler"
	"godwit/task"
)

// A machine is one of the scheduler's: see the driver's duties there.
type machine interface {
	Step(now time.Time, ev scheduler.Event) []scheduler.Effect
	NextWake() (time.Time, bool)
}

// A post is one thing for the loop to do: an event for one machine or for all
// (to nil), or a function to call with the loop's state in hand.
type post struct {
	event scheduler.Event
	to    machine
	call  func()
}

// A pending effect remembers who asked, so that the answer finds its way back.
// This node's own advert waits among them: it may announce a term, which has to
// be durable first.
type pending struct {
	effect scheduler.Effect // nil for an advert
	from   machine
	advert *overlay.Advert
}

const (
	// inboxSize bounds what waits for the loop. Beyond it the network's
	// readers wait, which is the back-pressure on peers.
	inboxSize = 1024
	// batchSize bounds how many posts share one durable commit. A commit
	// costs milliseconds whatever its size, so under load the batch grows.
	batchSize = 1024
)

// loop runs the machines until ctx ends or the store fails. It alone touches
// the node's state.
func (n *Node) loop(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return n.lastWords()
		case p := <-n.inbox:
			n.handle(p)
			n.drain()
		case <-timer.C:
			n.wake()
		}
		if err := n.flush(ctx); err != nil {
			return err
		}
		timer.Reset(n.untilWake())
	}
}

// lastWords makes durable up to when this node was there.
func (n *Node) lastWords() error {
	n.pending = nil // what was not carried out is as if it had not been asked for
	n.past.noteAt = n.now()
	n.notePast(n.past.noteAt)
	return n.persist(context.Background(), n.pending)
}

// drain handles what else has arrived, so that one commit serves it all.
func (n *Node) drain() {
	for range batchSize {
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
	case p.to != nil:
		n.step(p.to, p.event)
	default:
		n.tell(p.event)
	}
}

// tell gives an event to every machine; each takes what is its business.
func (n *Node) tell(ev scheduler.Event) {
	for _, m := range n.machines() {
		n.step(m, ev)
	}
}

func (n *Node) step(m machine, ev scheduler.Event) {
	for _, e := range m.Step(n.now(), ev) {
		n.pending = append(n.pending, pending{effect: e, from: m})
	}
	n.epochMayHaveGrown()
}

// wake wakes the machines whose time has come, and the view and the advert.
func (n *Node) wake() {
	now := n.now()
	n.expireMembers(now)
	n.renewAdvert(now)
	n.notePast(now)
	n.foundIfAlone(now)
	n.moveIfDue(now)
	for _, m := range n.machines() {
		if at, ok := m.NextWake(); ok && !at.After(now) {
			n.step(m, scheduler.Wake{})
		}
	}
}

// untilWake returns how long the loop may sleep.
func (n *Node) untilWake() time.Duration {
	now := n.now()
	next := n.nextAdvert
	sooner := func(at time.Time, ok bool) {
		if ok && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	sooner(n.view.NextExpiry())
	sooner(n.foundAt, !n.foundAt.IsZero())
	sooner(n.past.noteAt, !n.past.noteAt.IsZero())
	sooner(n.moveAt, !n.moveAt.IsZero())
	for _, m := range n.machines() {
		sooner(m.NextWake())
	}
	if next.IsZero() {
		return time.Hour
	}
	return max(0, next.Sub(now))
}

// machines returns the machines in a fixed order.
func (n *Node) machines() []machine {
	if n.coordinator == nil {
		return []machine{n.worker, n.submitter}
	}
	return []machine{n.coordinator, n.worker, n.submitter}
}

// now is the loop's clock: the wall clock at start plus the time that has
// passed since. It never goes back and does not jump when the wall clock is set.
func (n *Node) now() time.Time { return n.started.Add(time.Since(n.started)) }

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
	for len(n.pending) > 0 {
		effects := n.pending
		n.pending = nil
		if err := n.persist(ctx, effects); err != nil {
			return err
		}
		out := outgoing{}
		for _, p := range effects {
			n.carryOut(ctx, p, &out)
		}
		n.sendAll(&out)
		for _, m := range out.own {
			n.tell(scheduler.Received{From: n.self, Message: m})
		}
	}
	n.notifyWatchers()
	return nil
}

// outgoing gathers the messages of one flush by peer, in the order of each.
type outgoing struct {
	peers []task.PeerID
	to    map[task.PeerID][]scheduler.Message
	own   []scheduler.Message
}

func (o *outgoing) add(self task.PeerID, s scheduler.Send) {
	if s.To == self {
		o.own = append(o.own, s.Message)
		return
	}
	if o.to == nil {
		o.to = map[task.PeerID][]scheduler.Message{}
	}
	if _, ok := o.to[s.To]; !ok {
		o.peers = append(o.peers, s.To)
	}
	o.to[s.To] = append(o.to[s.To], s.Message)
}
