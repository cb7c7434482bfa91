package node

import (
	"context"
	"fmt"
	"log/slog"

	"godwit/member"
	"godwit/scheduler/message"
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
		if e, ok := p.machine().(message.Persist); ok {
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
		if _, ok := p.machine().(message.Start); ok {
			n.carryOut(ctx, p, nil)
			continue
		}
		kept = append(kept, p)
	}
	n.pending = kept
}

// carryOut does one effect, or starts what will answer it.
func (n *Node) carryOut(ctx context.Context, p pending, out *outgoing) {
	switch e := p.effect.(type) {
	case member.Gossip:
		if p.of.IsOut() {
			return // said already
		}
		if err := n.net.SetAdvert(e.Advert); err != nil {
			n.log.Warn("advert not sent", "err", err)
		}
	case member.SayLease:
		p.of.sayLease(ctx, e)
	case member.Do:
		n.doFor(ctx, p.of, &e, out)
	}
}

// doFor carries out an effect of a member's machine.
func (n *Node) doFor(ctx context.Context, m *membership, do *member.Do, out *outgoing) {
	switch e := do.Effect.(type) {
	case message.Persist: // done by persist
	case message.Send:
		out.add(n.self, m, e)
	case message.Fetch:
		from := do.From
		n.spawn(func() { n.fetch(ctx, m, from, e) })
	case message.Prepare, message.Start, message.HandOver, message.Expect, message.Stop:
		n.exec.Do(client{m}, e)
	case message.Outrun:
		n.tell(member.Outrun{Of: m.Member, From: e.From, Epoch: e.Epoch})
	case message.Release:
		if do.From == member.Machine(m.Worker()) { // what others release are blocks, which are collected
			n.exec.Do(client{m}, e)
		}
	case message.JobChanged:
		n.watchers.changed[e.Job] = true
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

// notice writes what the peer has to tell the operator.
func (n *Node) notice(e member.Notice) {
	log := n.log
	if e.Of != nil {
		log = e.Of.Driver.(*membership).log
	}
	log.Log(context.Background(), slog.Level(e.Level), e.Text, e.Args...)
}

// fetch answers a Fetch.
func (n *Node) fetch(ctx context.Context, m *membership, from member.Machine, e message.Fetch) {
	release := n.content.Hold(e.CIDs)
	done := message.Fetched{Key: e.Key}
	if err := n.content.Fetch(ctx, e.CIDs, e.Holders); err != nil {
		done.Err = err.Error()
	}
	n.post(post{call: func() {
		m.step(from, done) // and from here on the machine names what it needs
		release()
	}})
}
