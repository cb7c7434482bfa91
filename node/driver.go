package node

import (
	"context"
	"log/slog"
	"time"

	"godwit/internal/logging"
	"godwit/member"
	"godwit/node/exec"
	"godwit/p2p/cost"
	"godwit/scheduler/message"
	"godwit/task"
)

// A driver drives the node's peer: it tells the peer what happens, and carries out what
// the peer answers with. The loop owns it.
type driver struct {
	*core
	decisions *slog.Logger   // of machines
	exec      *exec.Executor // carries out what the workers ask for
	atlas     *cartographer
	peer      *member.Peer
	pending   []pending
	writing   []pending // what is being made durable
	watchers  watchers
	lately    decisions // that were come to last
	packer    message.Packer
	full      bool // the disk, until fullUntil at least
	fullUntil time.Time
	taken     []arrival // frames since effects were last carried out; while taking, the last is being taken
	taking    bool
	// accusations are what leaders here found: see proofs.accuseNext. At most maxAccusations.
	accusations []accusation
}

// newDriver returns a driver without a peer, which restore makes.
func newDriver(c *core) *driver {
	return &driver{core: c, decisions: logging.In(c.log, logging.Scheduler),
		watchers: watchers{map[*watcher]bool{}, map[task.JobID]bool{}}}
}

// A pending effect waits for what has to be durable before it.
type pending struct {
	of      *membership    // nil for what is the node's own
	effect  member.Effect  // nil where it is one of a machine
	machine message.Effect // what a machine wants done; nil for another effect
	from    member.Machine // to whom the answer goes
}

// tell gives the peer an event, and takes in what it answers with.
func (d *driver) tell(ev member.Event) { d.take(d.peer.Step(d.now(), ev)) }

// at does something with the peer or its members, and takes in what they answer with.
func (d *driver) at(do func()) { d.take(d.peer.At(d.now(), do)) }

// take has effects carried out with the next flush, and at once those that rest on
// nothing durable.
func (d *driver) take(effects []member.Effect) {
	var asks []member.Effect
	var atOnce []pending
	for _, e := range effects {
		if member.Asks(e) {
			asks = append(asks, e)
			continue
		}
		of := membershipOf(e)
		do, ok := e.(*member.Do)
		if !ok {
			d.pending = append(d.pending, pending{of: of, effect: e})
			continue
		}
		for _, machine := range do.Effects {
			if message.AtOnce(machine) {
				atOnce = append(atOnce, pending{of: of, machine: machine, from: do.From})
				continue
			}
			d.pending = append(d.pending, pending{of: of, machine: machine, from: do.From})
		}
	}
	for _, p := range atOnce { // which may as well
		d.exec.Do(client{p.of}, p.machine)
	}
	for _, e := range asks { // which may tell the peer something
		d.carryAsk(e)
	}
}

// membershipOf returns whose effect it is.
func membershipOf(e member.Effect) *membership {
	var of *member.Member
	switch e := e.(type) {
	case *member.Do:
		of = e.Of
	case member.Gossip:
		of = e.Of
	case member.SayLease:
		of = e.Of
	case member.JoinCell:
		of = e.Of
	case member.GossipSummary:
		of = e.Of
	case member.Greet:
		of = e.Of
	}
	m, _ := of.Driver.(*membership)
	return m
}

// ordered returns the memberships by name, then ID; the first is the node's own
// where nothing else is said.
func (d *driver) ordered() []*membership {
	members := d.peer.Members()
	out := make([]*membership, 0, len(members))
	for _, m := range members {
		out = append(out, m.Driver.(*membership))
	}
	return out
}

// batchSize bounds how many posts share one durable commit. A commit costs
// milliseconds whatever its size, so under load the batch grows.
const batchSize = 1024

// batchTime bounds how long posts gather for a commit: leases are renewed each second.
const batchTime = 50 * time.Millisecond

// drain handles what else has arrived, so that one commit serves it all: what leases say
// first, then this node's own and other peers' in turn.
func (d *driver) drain(ctx context.Context) {
	begun := time.Now()
	for range batchSize {
		d.serveEnds(ctx)
		own := true
		select {
		case p := <-d.inbox:
			d.handle(p)
		default:
			own = false
		}
		if !d.serveTurn() && !own || time.Since(begun) >= batchTime {
			return
		}
	}
}

// serveTurn handles something of the peer whose turn it is. It reports false when nothing waits.
func (d *driver) serveTurn() bool {
	p, ok := d.intake.take()
	if ok {
		d.intake.done(d.handle(p))
	}
	return ok
}

// handle handles a post, or a part of it; what that took is its peer's cost. It reports whether
// something of it is left.
func (d *driver) handle(p post) (left bool) {
	begun := time.Now()
	if p.part != nil {
		left = p.part()
	} else {
		p.call()
	}
	if p.from != "" {
		d.net.Debit(p.from, cost.Loop, cost.Micros(time.Since(begun)))
	}
	return left
}

// flush carries out the pending effects: what must be durable first, in one
// commit, then the rest in order. Messages to this node's own machines are
// events again, so it goes on until nothing is left.
func (d *driver) flush(ctx context.Context) error {
	if d.full && d.now().Before(d.fullUntil) {
		d.sayWhileFull(ctx)
		return nil
	}
	for {
		d.take(d.peer.Settle(d.now()))
		if len(d.pending) == 0 {
			break
		}
		effects := d.pending
		d.pending = nil
		if err := d.persist(ctx, effects); isFull(err) {
			d.diskFull(effects, err)
			d.sayWhileFull(ctx)
			return nil
		} else if err != nil {
			return err
		}
		if d.full {
			d.roomAgain()
		}
		out := outgoing{}
		for _, p := range effects {
			d.carryOut(ctx, p, &out)
		}
		d.sendAll(&out)
		for _, own := range out.own {
			d.tell(&member.Said{Of: own.to.Member, From: d.self, Message: &own.message})
		}
	}
	d.watchers.notify()
	return nil
}
