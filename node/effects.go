package node

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"

	"godwit/migrate/handover"
	"godwit/scheduler/message"
	"godwit/task"
)

// persist commits every Persist among the effects, in order. A commit takes milliseconds:
// tasks that wait here for a slot need not wait for it.
func (n *Node) persist(ctx context.Context, effects []pending) error {
	changes := changesOf(effects)
	if len(changes) == 0 {
		return nil
	}
	durable := make(chan error, 1)
	n.spawn(func() { durable <- n.store.commit(context.WithoutCancel(ctx), changes) })
	for {
		select {
		case err := <-durable:
			return err
		case p := <-n.ends:
			n.handleEnd(ctx, p)
		}
	}
}

// changesOf lists every Persist among the effects.
func changesOf(effects []pending) (changes []message.Persist) {
	for _, p := range effects {
		if e, ok := p.effect.(message.Persist); ok {
			if p.of != nil {
				e.Key = p.of.prefix + e.Key
			}
			changes = append(changes, e)
		}
	}
	return changes
}

// serveEnds handles what came to its end meanwhile.
func (n *Node) serveEnds(ctx context.Context) {
	for {
		select {
		case p := <-n.ends:
			n.handleEnd(ctx, p)
		default:
			return
		}
	}
}

// handleEnd handles an attempt's end, and starts what follows on it ahead of all other
// effects: nothing has to be durable for that.
func (n *Node) handleEnd(ctx context.Context, p post) {
	before := len(n.pending)
	n.handle(p)
	kept := n.pending[:before]
	for _, p := range n.pending[before:] {
		if _, ok := p.effect.(message.Start); ok {
			n.carryOut(ctx, p, nil)
			continue
		}
		kept = append(kept, p)
	}
	n.pending = kept
}

// postEnd tells the loop of an attempt's end. One that completed is told in a way of its
// own: it need not come after what was said of the attempt before, and its slot is free.
func (n *Node) postEnd(outcome task.Outcome, end func()) {
	if outcome == task.Completed {
		select {
		case n.ends <- post{call: end}:
			return
		default:
		}
	}
	n.post(post{call: end})
}

// carryOut does one effect, or starts what will answer it.
func (n *Node) carryOut(ctx context.Context, p pending, out *outgoing) {
	if p.advert != nil {
		if p.of != nil && p.of.out {
			return // said already
		}
		if err := n.net.SetAdvert(*p.advert); err != nil {
			n.log.Warn("advert not sent", "err", err)
		}
		return
	}
	if p.lease != nil {
		p.of.sendLease(ctx, p.lease)
		return
	}
	switch e := p.effect.(type) {
	case message.Persist: // done by persist
	case message.Send:
		out.add(n.self, p.of, e)
	case message.Fetch:
		n.spawn(func() { n.fetch(ctx, p, e) })
	case message.Prepare:
		n.spawn(func() { n.prepare(ctx, p, e) })
	case message.Start:
		if w := (waitingStart{p.of, p.from, e}); !n.insteadOf(w) {
			n.waiting = append(n.waiting, w)
			n.startWaiting()
		}
	case message.HandOver:
		n.handOver(p, e)
	case message.Expect:
		n.expect(p, e)
	case message.Stop:
		n.stopAttempt(e)
	case message.Outrun:
		p.of.obey(p.of.lease.Refused("", e.Epoch, n.now()))
	case message.Release:
		if p.from == machine(p.of.worker) { // what others release are blocks, which are collected
			n.release(e.Job)
		}
	case message.JobChanged:
		n.changed[e.Job] = true
	case message.Decided:
		n.logDecision(e)
	default:
		n.log.Error("effect of an unknown kind", "kind", fmt.Sprintf("%T", e))
	}
}

// logDecision keeps the log readable: what went as planned is debug, what an
// operator may want to know is info.
func (n *Node) logDecision(d message.Decided) {
	level := slog.LevelInfo
	switch d.Action {
	case "placed", "done", "started":
		level = slog.LevelDebug
	}
	if !n.log.Enabled(context.Background(), level) {
		return // it is said of every task
	}
	n.log.Log(context.Background(), level, "task "+d.Action, "task", d.Task.String(), "peer", d.Peer, "reason", d.Reason)
}

// fetch answers a Fetch.
func (n *Node) fetch(ctx context.Context, p pending, e message.Fetch) {
	release := n.pins.hold(e.CIDs)
	done := message.Fetched{Key: e.Key}
	if err := n.fetchAll(ctx, e.CIDs, e.Holders); err != nil {
		done.Err = err.Error()
	}
	n.post(post{call: func() {
		p.of.step(p.from, done) // and from here on the machine names what it needs
		release()
	}})
}

// fetchAll brings whole DAGs here and makes them durable.
func (n *Node) fetchAll(ctx context.Context, cids []task.CID, holders []task.PeerID) error {
	others := holders[:0:0]
	for _, h := range holders {
		if h != n.self {
			others = append(others, h)
		}
	}
	defer n.pins.hold(cids)()
	for _, c := range cids {
		if err := n.blocks.Fetch(ctx, c, others, maxContent); err != nil {
			if isFull(err) {
				n.wantRoom()
			}
			return fmt.Errorf("fetching %s: %w", c, err)
		}
	}
	return n.blocks.Sync(ctx)
}

// startNow answers a Start with exactly one Ended, from a goroutine of its own.
func (n *Node) startNow(w waitingStart) {
	e := w.start
	ctx, cancel := context.WithCancel(n.tasks)
	name := message.AttemptName{Task: e.Task, Attempt: e.Attempt}
	ready := n.prepared[e.Task.Job]
	a := attempt{of: w.of, from: w.from, ended: ctx.Done(), end: cancel, context: ctx, begun: n.now(), saved: new(atomic.Bool)}
	stop := make(chan struct{})
	if n.saves(ready) {
		a = newAttempt(w.of, w.from, ctx, cancel, stop)
	}
	n.running[name] = a
	n.freeChanged()
	n.spawn(func() {
		res := n.runTask(ctx, ready, e.Task, n.newSaving(ctx, w, ready, stop, a.place))
		cancel()
		n.postEnd(res.Outcome, func() { n.attemptEnded(a, name, res) })
	})
}

// attemptEnded tells the worker of an attempt's end, on the loop.
func (n *Node) attemptEnded(a attempt, name message.AttemptName, res task.Result) {
	delete(n.running, name)
	n.startWaiting()
	n.freeChanged()
	n.hold()
	if g := a.place.now(); g != nil { // it came to its own end
		n.spawn(func() { g.tell(handover.Ended{Reason: res.Message}) })
	}
	if a.saved.Load() && a.place.ranOn() == nil {
		n.leaveLater()
	}
	a.of.step(a.from, message.Ended{Task: name.Task, Attempt: name.Attempt, Result: res, Handed: a.place.ranOn()})
}

// notBegun ends attempts that wait for a core and are not to begin any more.
func (n *Node) notBegun(which func(waitingStart) bool) {
	var ended []waitingStart
	n.waiting = slices.DeleteFunc(n.waiting, func(w waitingStart) bool {
		if which(w) {
			ended = append(ended, w)
			return true
		}
		return false
	})
	for _, w := range ended {
		e := w.start
		res := task.Result{Task: e.Task, Worker: n.self, Outcome: task.Interrupted, Message: "it waited for a core, and did not begin"}
		if err := res.Sign(n.key); err != nil {
			n.log.Error("signing a result", "task", e.Task.String(), "err", err)
		}
		w.of.step(w.from, message.Ended{Task: e.Task, Attempt: e.Attempt, Result: res})
	}
}

func (n *Node) stopAttempt(e message.Stop) {
	name := message.AttemptName{Task: e.Task, Attempt: e.Attempt}
	a, ok := n.running[name]
	switch {
	case !ok:
		n.refuseArrivals(e.Reason, func(t *taking) bool { return t.name.task == e.Task && t.name.as == e.Attempt })
		n.notBegun(func(w waitingStart) bool { return w.start.Task == e.Task && w.start.Attempt == e.Attempt })
	case e.Save:
		n.log.Info("saving a task", "task", e.Task.String(), "reason", e.Reason)
		n.saveAttempt(name, a)
	default:
		n.log.Info("stopping a task", "task", e.Task.String(), "reason", e.Reason)
		a.end()
	}
}

// spawn runs f in a goroutine that Run waits for.
func (n *Node) spawn(f func()) { n.group.Go(f) }
