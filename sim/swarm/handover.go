package swarm

import (
	"fmt"
	"time"

	"godwit/scheduler/message"
	"godwit/task"
)

// handOver begins to hand a run over, in a turn of its own.
func (n *node) handOver(e message.HandOver) {
	n.after(0, ending, func() {
		r := n.runOf(e.Task, e.Attempt)
		switch {
		case r == nil: // its end is told
		case !n.w.canSave:
			n.step(n.m.Worker(), message.NotSaved{Task: e.Task, Attempt: e.Attempt, Reason: "its state cannot be saved"})
		case r.held && !r.saving:
			n.step(n.m.Worker(), message.NotHanded{Task: e.Task, Attempt: e.Attempt, Reason: "its state is only being brought"})
		default:
			to := n.w.peer(e.To)
			r.give = &give{r: r, e: e, to: to, life: to.life, begun: n.w.now}
			r.give.open(n.w.now + offerWait)
		}
	})
}

// ask does something at the destination when d has passed, and done here when the
// answer is back: why not, or "". A destination that is gone does not answer: the
// connection breaks.
func (g *give) ask(d time.Duration, there func(t *take) string, done func(why string)) {
	n := g.r.n
	w, life := n.w, n.life
	answer := func(after time.Duration, why string) {
		w.queue.add(w.now+after, talking, func() {
			if n.up && n.life == life && g.r.give == g {
				n.turn(func() { done(why) })
			}
		})
	}
	w.queue.add(w.now+d+w.delay(), talking, func() {
		if !g.to.up || g.to.life != g.life {
			answer(w.s.Network.Detect, "the connection to the destination broke")
			return
		}
		why := ""
		g.to.turn(func() { why = there(g.to.takes[attemptName{g.e.Task, g.e.As}]) })
		answer(w.delay(), why)
	})
}

// noOffer is what a destination says that awaits nothing.
const noOffer = "the destination does not await it"

// open says to the destination what comes, and waits for its offer there until
// then.
func (g *give) open(until time.Duration) {
	g.ask(0, func(t *take) string {
		if t == nil || t.e.From != g.r.n.id || t.e.FromAttempt != g.e.Named {
			return noOffer
		}
		t.g = g
		return ""
	}, func(why string) {
		switch {
		case why == "":
			g.copy()
		case why == noOffer && g.r.n.w.now < until:
			g.r.n.after(offerLook, talking, func() {
				if g.r.give == g {
					g.open(until)
				}
			})
		default:
			g.fail(why)
		}
	})
}

// copy sends the state ahead while the run goes on. One that stands still, or has
// no time for that, sends all at once.
func (g *give) copy() {
	r := g.r
	w := r.n.w
	if r.n.standing() {
		g.freeze(r.t.state)
		return
	}
	r.settle()
	s := save{r.done, r.useful}
	g.ask(w.transfer(r.t.state), func(t *take) string {
		if t == nil {
			return noOffer
		}
		t.saved = g.keep(s)
		return ""
	}, func(why string) {
		if why != "" {
			g.fail(why)
			return
		}
		g.freeze(r.t.state / deltaPart)
	})
}

// keep makes a state that has come a checkpoint at the destination.
func (g *give) keep(s save) *message.Checkpoint {
	w := g.r.n.w
	w.copies++
	c := task.RawCID(fmt.Appendf(nil, "copy %d of %s", w.copies, g.e.Task))
	w.saves[c], w.sizes[c] = s, g.r.t.state
	w.moved += g.r.t.state
	g.to.blocks[c] = true
	g.r.t.saved = max(g.r.t.saved, s.useful)
	return checkpointOf(c, s)
}

// freeze has the run stand still for good, and sends what is left.
func (g *give) freeze(left int64) {
	r := g.r
	n, w := r.n, r.n.w
	if r.saving { // a checkpoint is being made: after it
		n.after(offerLook, talking, func() {
			if r.give == g {
				g.freeze(left)
			}
		})
		return
	}
	r.settle()
	r.change++
	r.rate, r.held = 0, true
	g.final, g.frozen = &save{r.done, r.useful}, w.now
	pause := time.Duration(float64(w.pause(r.t.state)) * float64(left) / float64(max(1, r.t.state)))
	g.ask(pause+w.transfer(left), func(t *take) string {
		if t == nil {
			return noOffer
		}
		w.moved += left
		g.to.arrive(g)
		return ""
	}, func(why string) {
		if why != "" {
			g.fail(why)
			return
		}
		r.handed(g)
	})
}

// arrive has a run go on here.
func (n *node) arrive(g *give) {
	name := attemptName{g.e.Task, g.e.As}
	r := &run{
		n: n, start: message.Start{Task: name.task, Attempt: name.attempt, Left: n.takes[name].e.Left}, t: g.r.t, at: n.w.now,
		from: g.final.done, done: g.final.done, useful: g.final.useful,
	}
	r.every = r.saveAfter()
	delete(n.takes, name)
	n.runs = append(n.runs, r)
	n.w.changes++
	n.at(n.peer.FreeChanged)
	r.goOn()
	n.step(n.m.Worker(), message.Arrived{Task: g.e.Task, Attempt: g.e.As})
}

// handed ends a run that goes on elsewhere.
func (r *run) handed(g *give) {
	r.settle()
	w := r.n.w
	w.lost(r, "", moved)
	r.give = nil
	r.endAs(task.Result{Outcome: task.Interrupted}, &message.Handed{
		Bytes: r.t.state, State: r.t.state, Took: w.now - g.begun, Down: w.now - g.frozen,
	})
}

// fail ends a hand-over. A run that was frozen for it ends with its state; one
// that was not goes on.
func (g *give) fail(why string) {
	r := g.r
	r.give = nil
	if g.final == nil {
		r.n.step(r.n.m.Worker(), message.NotHanded{Task: g.e.Task, Attempt: g.e.Attempt, Reason: why})
		return
	}
	w := r.n.w
	w.copies++
	c := task.RawCID(fmt.Appendf(nil, "copy %d of %s", w.copies, g.e.Task))
	w.saves[c], w.sizes[c] = *g.final, r.t.state
	r.then = func() { r.interrupt(why, moved) }
	r.savedAs(c, *g.final)
}

// breakOff has the destination hear that nothing more comes, when that time has
// passed.
func (g *give) breakOff(after time.Duration) {
	w, to, life := g.r.n.w, g.to, g.life
	g.r.give = nil
	name := attemptName{g.e.Task, g.e.As}
	w.queue.add(w.now+after, talking, func() {
		if t := to.takes[name]; to.up && to.life == life && t != nil && t.g == g {
			to.turn(func() { to.notTaken(name, "the connection to the source broke") })
		}
	})
}

// expect waits for a run that another node hands over.
func (n *node) expect(e message.Expect) { n.takes[attemptName{e.Task, e.Attempt}] = &take{e: e} }

// notTaken says that nothing came of what was awaited.
func (n *node) notTaken(name attemptName, why string) {
	t := n.takes[name]
	if t == nil {
		return
	}
	delete(n.takes, name)
	n.step(n.m.Worker(), message.NotArrived{Task: name.task, Attempt: name.attempt, Reason: why, Saved: t.saved})
}

// deltaPart is the part of a state that changes while it is copied and goes while
// the task stands still: 1 %, as package sim has it.
const deltaPart = 100

// offerWait is how long a source waits at a destination that has no offer of it
// yet, as of a live node, and offerLook how often it looks there.
const (
	offerWait = 5 * time.Second
	offerLook = 10 * time.Millisecond
)
