package scheduler

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"godwit/scheduler/message"
	"godwit/task"
)

// How the simulation's nodes carry hand-overs out: step by step, each of which
// can be cut on each side.

// A simRun is an attempt that runs. Fuel is milliseconds.
type simRun struct {
	fuel   uint64 // it began with, or had when last settled
	at     time.Time
	frozen bool
	chain  []task.Link // see lying
	wrong  bool
	reads  *message.Reads // as its lease named it
	saves  int
}

// settle adds what it ran to the books.
func (r *simRun) settle(s *groupSim) {
	if !r.frozen {
		ran := s.now.Sub(r.at).Truncate(time.Millisecond)
		s.spent += ran
		r.fuel += uint64(ran / time.Millisecond)
	}
	r.at = s.now
}

// saved makes a state of a run.
func (n *simNode) saved(name message.AttemptName, run *simRun) message.Checkpoint {
	run.settle(n.s)
	fuel := run.fuel + 1
	state := message.Checkpoint{CID: task.RawCID(fmt.Append(nil, name, fuel)), Fuel: fuel}
	n.sayState(name, run, &state)
	state.CPU = time.Duration(state.Fuel) * time.Millisecond
	n.blocks[state.CID] = true
	n.vouch(name, &state, run.chain)
	return state
}

// A simGive is the source's side of a hand-over, a simTake the destination's.
type simGive struct {
	order message.HandOver
	begun time.Time
	round int
	heard time.Time // of the destination
	final *message.Checkpoint
}

type simTake struct {
	e     message.Expect
	heard time.Time // of the source
	open  bool
	round *message.Checkpoint // the last that is complete
}

const (
	simRounds   = 2 // of pre-copy
	simRound    = 500 * time.Millisecond
	simPatience = 4 * time.Second // with the other side
)

// step asks whether something breaks here.
func (n *simNode) fails(step string, id task.TaskID) bool {
	if n.s.fault != nil {
		return n.s.fault(step, n, id) || !n.up
	}
	return !n.s.exact && n.s.rng.IntN(40) == 0
}

// say sends one step of a hand-over to the other side.
func (n *simNode) say(step string, id task.TaskID, to task.PeerID, do func(o *simNode)) {
	if !n.fails(step, id) {
		n.tell(to, do)
	}
}

func (n *simNode) handOver(e message.HandOver) {
	name := message.AttemptName{Task: e.Task, Attempt: e.Attempt}
	if n.runs[name] == nil || n.giving[name] != nil {
		return // it has ended, or is ending
	}
	g := &simGive{order: e, begun: n.s.now, heard: n.s.now}
	n.giving[name] = g
	n.watchGive(name, g)
	n.say("open", e.Task, e.To, func(o *simNode) { o.opened(n.id, e, 0) })
}

// watchGive gives a hand-over up whose other side is silent.
func (n *simNode) watchGive(name message.AttemptName, g *simGive) {
	n.s.after(n, simPatience, func() {
		switch {
		case n.giving[name] != g:
		case n.s.now.Before(g.heard.Add(simPatience)):
			n.watchGive(name, g)
		default:
			n.giveUpGiving(name, "the destination is silent")
		}
	})
}

// giveUpGiving ends the source's side: before the freeze the guest goes on, after
// it it ends with its state.
func (n *simNode) giveUpGiving(name message.AttemptName, why string) {
	g := n.giving[name]
	if g == nil {
		return
	}
	delete(n.giving, name)
	if g.final == nil {
		n.step(message.NotHanded{Task: name.Task, Attempt: name.Attempt, Reason: why})
		return
	}
	n.blocks[g.final.CID] = true
	n.step(message.Checkpointed{Task: name.Task, Attempt: name.Attempt, Checkpoint: *g.final})
	n.end(name.Task, name.Attempt, task.Result{Outcome: task.Interrupted})
}

// stopGiving forgets a hand-over whose run has ended: the other side hears.
func (n *simNode) stopGiving(name message.AttemptName) {
	g := n.giving[name]
	if g == nil {
		return
	}
	delete(n.giving, name)
	n.tell(g.order.To, func(o *simNode) {
		o.stopTaking(message.AttemptName{Task: name.Task, Attempt: g.order.As}, "the source gave it up")
	})
}

func (n *simNode) expect(e message.Expect) {
	name := message.AttemptName{Task: e.Task, Attempt: e.Attempt}
	t := &simTake{e: e, heard: n.s.now}
	n.taking[name] = t
	n.watchTake(name, t)
}

func (n *simNode) watchTake(name message.AttemptName, t *simTake) {
	n.s.after(n, simPatience, func() {
		switch {
		case n.taking[name] != t:
		case n.s.now.Before(t.heard.Add(simPatience)):
			n.watchTake(name, t)
		default:
			n.stopTaking(name, "the source is silent")
		}
	})
}

// stopTaking ends the destination's side with nothing.
func (n *simNode) stopTaking(name message.AttemptName, why string) {
	t := n.taking[name]
	if t == nil {
		return
	}
	delete(n.taking, name)
	if t.round != nil {
		n.vouch(name, t.round, t.round.Chain())
	}
	n.step(message.NotArrived{Task: name.Task, Attempt: name.Attempt, Reason: why, Saved: t.round})
}

// opened is the source's first word, for which the destination may have no offer
// yet.
func (n *simNode) opened(from task.PeerID, e message.HandOver, tries int) {
	t := n.taking[message.AttemptName{Task: e.Task, Attempt: e.As}]
	switch {
	case t != nil && t.e.From == from && t.e.FromAttempt == e.Named:
		t.heard, t.open = n.s.now, true
		n.say("welcome", e.Task, from, func(o *simNode) { o.welcomed(e) })
	case tries < 6:
		n.s.after(n, simPatience/8, func() { n.opened(from, e, tries+1) })
	default:
		n.tell(from, func(o *simNode) {
			o.giveUpGiving(message.AttemptName{Task: e.Task, Attempt: e.Attempt}, "nobody offered it there")
		})
	}
}

// welcomed goes on with the next round, or the last.
func (n *simNode) welcomed(e message.HandOver) {
	name := message.AttemptName{Task: e.Task, Attempt: e.Attempt}
	g, run := n.giving[name], n.runs[name]
	if g == nil || run == nil || run.frozen {
		return
	}
	g.heard = n.s.now
	if g.round < simRounds {
		g.round++
		n.s.after(n, simRound, func() {
			if n.giving[name] != g || n.runs[name] != run {
				return
			}
			state := n.saved(name, run)
			n.say("round", e.Task, e.To, func(o *simNode) { o.took(n.id, e, state) })
		})
		return
	}
	if n.fails("freeze", e.Task) && !n.up {
		return
	}
	state := n.saved(name, run)
	run.frozen, g.final = true, &state
	n.say("final", e.Task, e.To, func(o *simNode) { o.tookAll(n.id, e, state) })
}

// took is a round that is complete.
func (n *simNode) took(from task.PeerID, e message.HandOver, state message.Checkpoint) {
	t := n.taking[message.AttemptName{Task: e.Task, Attempt: e.As}]
	if t == nil {
		return
	}
	t.heard, t.round = n.s.now, &state
	n.blocks[state.CID] = true
	n.say("got", e.Task, from, func(o *simNode) { o.welcomed(e) })
}

// tookAll is the last: the guest runs here.
func (n *simNode) tookAll(from task.PeerID, e message.HandOver, state message.Checkpoint) {
	name := message.AttemptName{Task: e.Task, Attempt: e.As}
	if n.taking[name] == nil || n.fails("thaw", e.Task) {
		return
	}
	delete(n.taking, name)
	n.s.arrivals++
	run := &simRun{fuel: state.Fuel - 1, at: n.s.now}
	n.began(run, &state)
	n.goOn(name, run)
	n.step(message.Arrived{Task: e.Task, Attempt: e.As})
	n.say("resumed", e.Task, from, func(o *simNode) { o.resumedThere(e) })
}

func (n *simNode) resumedThere(e message.HandOver) {
	name := message.AttemptName{Task: e.Task, Attempt: e.Attempt}
	g := n.giving[name]
	if g == nil || n.fails("retire", e.Task) && !n.up {
		return
	}
	delete(n.giving, name)
	n.endHanded(e.Task, e.Attempt, task.Result{Outcome: task.Interrupted},
		&message.Handed{Bytes: 1 << 20, Took: n.s.now.Sub(g.begun), Down: n.s.latency})
}

// breakStreams ends the hand-overs with a node whose connection broke.
func (n *simNode) breakStreams(o *simNode) {
	for _, name := range sortedAttempts(n.giving) {
		if n.giving[name] != nil && n.giving[name].order.To == o.id {
			n.giveUpGiving(name, "the stream broke")
		}
	}
	for _, name := range sortedAttempts(n.taking) {
		if n.taking[name] != nil && n.taking[name].e.From == o.id {
			n.stopTaking(name, "the stream broke")
		}
	}
}

func sortedAttempts[V any](m map[message.AttemptName]V) []message.AttemptName {
	names := make([]message.AttemptName, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b message.AttemptName) int {
		return cmp.Or(message.CompareTasks(a.Task, b.Task), a.Attempt.Compare(b.Attempt))
	})
	return names
}
