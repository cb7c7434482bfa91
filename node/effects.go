package node

import (
	"context"
	"fmt"
	"log/slog"

	"godwit/blocks"
	"godwit/member"
	"godwit/scheduler/message"
)

// persist commits every Persist among the effects, in order. A commit takes milliseconds, and where the disk is slow
// seconds: tasks that wait here for a slot need not wait for it, nor who only looks.
func (d *driver) persist(ctx context.Context, effects []pending) error {
	changes := changesOf(effects)
	if len(changes) == 0 {
		return nil
	}
	d.writing = effects
	defer func() { d.writing = nil }()
	durable := make(chan error, 1)
	d.spawn(func() { durable <- d.store.commit(context.WithoutCancel(ctx), changes) })
	for {
		select {
		case err := <-durable:
			return err
		case p := <-d.ends:
			d.handleEnd(ctx, p)
		case p := <-d.first:
			d.handle(p)
		case p := <-d.looks:
			d.handle(p)
		}
	}
}

// changesOf lists every Persist among the effects.
func changesOf(effects []pending) (changes []message.Persist) {
	for _, p := range effects {
		if e, ok := p.machine.(message.Persist); ok {
			if p.of != nil {
				e.Key = p.of.prefix + e.Key
			}
			changes = append(changes, e)
		}
	}
	return changes
}

// serveEnds handles what leases said, what came to its end, and who looks, meanwhile.
func (d *driver) serveEnds(ctx context.Context) {
	for {
		select {
		case p := <-d.first:
			d.handle(p)
		case p := <-d.looks:
			d.handle(p)
		case p := <-d.ends:
			d.handleEnd(ctx, p)
		default:
			return
		}
	}
}

// handleEnd handles an attempt's end, and starts what follows on it ahead of all other
// effects: nothing has to be durable for that.
func (d *driver) handleEnd(ctx context.Context, p post) {
	before := len(d.pending)
	d.handle(p)
	kept := d.pending[:before]
	for _, p := range d.pending[before:] {
		if _, ok := p.machine.(message.Start); ok {
			d.carryOut(ctx, p, nil)
			continue
		}
		kept = append(kept, p)
	}
	d.pending = kept
}

// carryOut does one effect, or starts what will answer it.
func (d *driver) carryOut(ctx context.Context, p pending, out *outgoing) {
	switch e := p.effect.(type) {
	case member.Gossip:
		if p.of.IsOut() {
			return // said already
		}
		if err := d.net.SetAdvert(e.Advert); err != nil {
			d.log.Warn("advert not sent", "err", err)
		}
	case member.SayLease:
		p.of.sayLease(ctx, e)
	case member.JoinCell:
		if err := d.net.EnterCell(p.of.id, e.Cell); err != nil {
			d.log.Error("hearing the adverts of another cell", "cell", e.Cell.String(), "err", err)
		}
	case member.GossipSummary:
		if err := d.net.SaySummary(e.Summary); err != nil {
			d.log.Warn("the cell is not summed up to others", "err", err)
		}
	case member.Greet:
		if err := d.net.Greet(e.To); err != nil {
			d.log.Debug("a member of another cell does not hear who this is", "peer", e.To, "err", err)
		}
	case nil:
		d.doFor(ctx, p, out)
	}
}

// doFor carries out an effect of a member's machine.
func (d *driver) doFor(ctx context.Context, p pending, out *outgoing) {
	m := p.of
	switch e := p.machine.(type) {
	case message.Persist: // done by persist
	case message.Send:
		if e, goes := sent(d.self, e); goes {
			out.add(d.self, m, e)
		}
	case message.Fetch:
		d.spawn(func() { d.fetch(ctx, m, p.from, e) })
	case message.Prepare, message.Start, message.HandOver, message.Expect, message.Stop,
		message.Ready, message.Begin, message.Unready:
		d.exec.Do(client{m}, e)
	case message.Audit:
		d.audit(ctx, m, p.from, e)
	case message.Unneeded:
		d.exec.Unneeded(client{m}, e)
	case message.Examine:
		d.examine(ctx, m, p.from, e)
	case message.Compare:
		d.compare(ctx, m, p.from, e)
	case message.Recall:
		d.recall(ctx, m, e)
	case message.Released:
		d.release(ctx, m, e)
	case message.Outrun:
		d.tell(member.Outrun{Of: m.Member, From: e.From, Epoch: e.Epoch})
	case message.Release:
		if p.from == member.Machine(m.Worker()) { // what others release are blocks, which are collected
			d.exec.Do(client{m}, e)
		}
	case message.Accuse:
		d.accuse(m, e)
	case message.JobChanged:
		d.watchers.changed[e.Job] = e.Final || d.watchers.changed[e.Job]
	case message.Decided:
		d.lately.note(d.now(), m, e)
		m.decided.note(e.Action)
		d.logDecision(e)
	default:
		d.log.Error("effect of an unknown kind", "kind", fmt.Sprintf("%T", e))
	}
}

// logDecision keeps the log readable: what went as planned is debug, what an
// operator may want to know is info.
func (d *driver) logDecision(e message.Decided) {
	level := slog.LevelInfo
	switch e.Action {
	case "placed", "done", "started":
		level = slog.LevelDebug
	}
	if !d.decisions.Enabled(context.Background(), level) {
		return // it is said of every task
	}
	d.decisions.Log(context.Background(), level, "task "+e.Action, "task", e.Task.String(), "peer", e.Peer, "reason",
		e.Reason)
}

// notice writes what the peer has to tell the operator.
func (d *driver) notice(e member.Notice) {
	log := d.log
	if e.Of != nil {
		log = e.Of.Driver.(*membership).log
	}
	log.Log(context.Background(), slog.Level(e.Level), e.Text, e.Args...)
}

// fetch answers a Fetch.
func (d *driver) fetch(ctx context.Context, m *membership, from member.Machine, e message.Fetch) {
	release := d.content.Hold(e.CIDs)
	done := message.Fetched{Key: e.Key}
	if err := d.content.fetchFor(ctx, e); err != nil {
		done.Err, done.Wrong = err.Error(), blocks.Wrong(err)
	} else {
		m.holds(e.CIDs...)
	}
	d.post(post{call: func() {
		m.step(from, done) // and from here on the machine names what it needs
		release()
	}})
}
