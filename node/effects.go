package node

import (
	"context"
	"fmt"
	"log/slog"

	"godwit/scheduler"
	"godwit/task"
)

// persist commits every Persist among the effects, in order.
func (n *Node) persist(ctx context.Context, effects []pending) error {
	var changes []scheduler.Persist
	for _, p := range effects {
		if e, ok := p.effect.(scheduler.Persist); ok {
			changes = append(changes, e)
		}
	}
	if len(changes) == 0 {
		return nil
	}
	if err := n.store.commit(context.WithoutCancel(ctx), changes); err != nil {
		return fmt.Errorf("saving state: %w", err)
	}
	return nil
}

// carryOut does one effect, or starts what will answer it.
func (n *Node) carryOut(ctx context.Context, p pending, out *outgoing) {
	if p.advert != nil {
		if err := n.net.SetAdvert(*p.advert); err != nil {
			n.log.Warn("advert not sent", "err", err)
		}
		return
	}
	switch e := p.effect.(type) {
	case scheduler.Persist: // done by persist
	case scheduler.Send:
		out.add(n.self, e)
	case scheduler.Fetch:
		n.spawn(func() { n.fetch(ctx, p.from, e) })
	case scheduler.Prepare:
		n.spawn(func() { n.prepare(ctx, p.from, e) })
	case scheduler.Start:
		n.start(ctx, p.from, e)
	case scheduler.Stop:
		n.stopAttempt(e)
	case scheduler.Release:
		n.release(e.Job)
	case scheduler.JobChanged:
		n.changed[e.Job] = true
	case scheduler.Decided:
		n.logDecision(e)
	default:
		n.log.Error("effect of an unknown kind", "kind", fmt.Sprintf("%T", e))
	}
}

// logDecision keeps the log readable: what went as planned is debug, what an
// operator may want to know is info.
func (n *Node) logDecision(d scheduler.Decided) {
	level := slog.LevelInfo
	switch d.Action {
	case "placed", "done", "started":
		level = slog.LevelDebug
	}
	n.log.Log(context.Background(), level, "task "+d.Action, "task", d.Task.String(), "peer", d.Peer, "reason", d.Reason)
}

// sendAll hands each peer its messages of this flush, as few frames as hold them.
func (n *Node) sendAll(out *outgoing) {
	for _, peer := range out.peers {
		frames, err := scheduler.PackFrames(out.to[peer])
		if err != nil {
			n.log.Error("encoding messages", "peer", peer, "err", err)
		}
		for _, f := range frames {
			if err := n.net.Send(peer, f); err != nil {
				n.log.Debug("message not sent; it will be repeated", "peer", peer, "err", err)
			}
		}
	}
}

// fetch answers a Fetch.
func (n *Node) fetch(ctx context.Context, from machine, e scheduler.Fetch) {
	done := scheduler.Fetched{Key: e.Key}
	if err := n.fetchAll(ctx, e.CIDs, e.Holders); err != nil {
		done.Err = err.Error()
	}
	n.post(post{event: done, to: from})
}

// fetchAll brings whole DAGs here and makes them durable.
func (n *Node) fetchAll(ctx context.Context, cids []task.CID, holders []task.PeerID) error {
	others := holders[:0:0]
	for _, h := range holders {
		if h != n.self {
			others = append(others, h)
		}
	}
	for _, c := range cids {
		if err := n.blocks.Fetch(ctx, c, others, maxContent); err != nil {
			return fmt.Errorf("fetching %s: %w", c, err)
		}
	}
	return n.blocks.Sync(ctx)
}

// start answers a Start with exactly one Ended, from a goroutine of its own.
func (n *Node) start(ctx context.Context, from machine, e scheduler.Start) {
	ctx, cancel := context.WithCancel(ctx)
	name := scheduler.AttemptName{Task: e.Task, Attempt: e.Attempt}
	n.running[name] = cancel
	n.freeChanged()
	ready := n.prepared[e.Task.Job]
	n.spawn(func() {
		res := n.runTask(ctx, ready, e.Task, n.newSaving(ctx, from, ready, e))
		cancel()
		n.post(post{call: func() {
			delete(n.running, name)
			n.freeChanged()
			n.hold()
			n.step(from, scheduler.Ended{Task: e.Task, Attempt: e.Attempt, Result: res})
		}})
	})
}

func (n *Node) stopAttempt(e scheduler.Stop) {
	if cancel, ok := n.running[scheduler.AttemptName{Task: e.Task, Attempt: e.Attempt}]; ok {
		n.log.Info("stopping a task", "task", e.Task.String(), "reason", e.Reason)
		cancel()
	}
}

// spawn runs f in a goroutine that Run waits for.
func (n *Node) spawn(f func()) { n.group.Go(f) }
