package swarm

import (
	"fmt"
	"math"
	"slices"
	"time"

	"godwit/member"
	"godwit/migrate"
	"godwit/overlay"
	"godwit/scheduler/message"
	"godwit/sim"
	"godwit/task"
)

// begin starts an attempt, where that is possible from its checkpoint.
func (n *node) begin(e message.Start) {
	w := n.w
	if n.runOf(e.Task, e.Attempt) != nil {
		return // it has arrived
	}
	delete(n.takes, attemptName{e.Task, e.Attempt})
	r := &run{n: n, start: e, t: w.taskOf(e.Task), at: w.now}
	n.runs = append(n.runs, r)
	w.begun(r)
	n.at(n.peer.FreeChanged)
	if e.From == nil {
		r.every = r.saveAfter()
		r.goOn()
		return
	}
	r.held = true
	n.bring([]task.CID{e.From.CID}, e.Holders, func(missing task.CID) {
		if r.over {
			return
		}
		r.settle()
		if s, ok := w.saves[e.From.CID]; ok && missing == "" {
			r.from, r.done, r.useful = s.done, s.done, s.useful
		} else {
			r.redo = e.From.CPU
		}
		r.held, r.every = false, r.saveAfter()
		r.goOn()
	})
}

// settle brings the run's books up to now.
func (r *run) settle() {
	w := r.n.w
	d := w.now - r.at
	if r.rate > 0 {
		r.done = min(r.done+float64(d)*r.rate, float64(r.t.work))
		r.ran += d
		r.useful += w.counted(r.at, w.now)
	}
	if r.rate > 0 || r.held && r.n.lends() {
		w.spend(r, r.at, w.now)
	}
	r.at = w.now
}

// goOn has the run go on at its host's speed, or stand still, and arranges what
// comes next.
func (r *run) goOn() {
	r.settle()
	r.change++
	r.rate = 0
	if r.held || r.over {
		return
	}
	if r.rate = r.n.speed(); r.rate == 0 {
		return
	}
	left := time.Duration(math.Ceil(max(0, float64(r.t.work)-r.done) / r.rate))
	change := r.change
	if r.every > 0 && r.every-r.ran < left {
		r.n.after(max(0, r.every-r.ran), ending, func() {
			if r.change == change {
				r.save()
			}
		})
		return
	}
	r.n.after(left, ending, func() {
		if r.change == change {
			r.complete()
		}
	})
}

// saveAfter is after how much running time a task is saved next: as often as the
// Scenario says, or as the node of a host has it.
func (r *run) saveAfter() time.Duration {
	n, w, state := r.n, r.n.w, r.t.state
	if !w.s.Checkpoints.Auto {
		return w.every
	}
	left := time.Duration(float64(migrate.Remaining(r.start.Left, time.Duration(r.done-r.from)-r.redo)) / n.speedUsual())
	self, now := overlay.Advert{Peer: n.id}, w.clock
	every, _ := migrate.SaveAfter(left, w.pause(state), w.transfer(state), func(d time.Duration) float64 {
		p, _ := view{n}.Stay(&self, now, d)
		return p
	})
	return every
}

// save takes a checkpoint, for which the run stands still.
func (r *run) save() {
	r.settle()
	if r.give != nil && r.then == nil { // its states go with it
		r.ran = 0
		r.goOn()
		return
	}
	r.change++
	r.rate, r.held, r.saving = 0, true, true
	w := r.n.w
	w.checkpoints++
	s := save{r.done, r.useful}
	c := task.RawCID(fmt.Appendf(nil, "state %d of %s", w.checkpoints, r.start.Task))
	w.saves[c], w.sizes[c] = s, r.t.state
	if pause := w.pause(r.t.state); pause > 0 {
		r.n.after(pause, ending, func() { r.savedAs(c, s) })
		return
	}
	r.savedAs(c, s)
}

// savedAs tells of a checkpoint that was taken.
func (r *run) savedAs(c task.CID, s save) {
	if r.over {
		return
	}
	r.settle()
	r.held, r.saving, r.ran, r.every = false, false, 0, r.saveAfter()
	r.n.blocks[c] = true
	r.t.saved = max(r.t.saved, s.useful)
	r.n.step(r.n.m.Worker(), message.Checkpointed{
		Task: r.start.Task, Attempt: r.start.Attempt,
		Checkpoint: *checkpointOf(c, s),
	})
	if r.then != nil {
		r.then()
		return
	}
	r.goOn()
}

// saveAndEnd ends the run with its state.
func (r *run) saveAndEnd(why string, as loss) {
	r.then = func() { r.interrupt(why, as) }
	if !r.saving {
		r.save()
	}
}

// complete ends the run with its task's result.
func (r *run) complete() {
	r.settle()
	r.t.useful = r.useful
	r.n.w.changes++
	r.end(completed(r.start.Task))
}

// interrupt ends the run without.
func (r *run) interrupt(why string, as loss) {
	r.settle()
	r.n.w.lost(r, why, as)
	r.end(task.Result{Outcome: task.Interrupted, Message: why})
}

func (r *run) end(res task.Result) { r.endAs(res, nil) }

func (r *run) endAs(res task.Result, handed *message.Handed) {
	n := r.n
	if r.give != nil {
		r.give.breakOff(n.w.delay())
	}
	r.over, r.rate, r.held = true, 0, false
	r.change++
	n.runs = slices.DeleteFunc(n.runs, func(o *run) bool { return o == r })
	res.Task, res.CPU = r.start.Task, time.Duration(r.done-r.from)
	res.Wall = res.CPU
	if n.w.opt.Signed { // the worker signs it
		res.Receipt = r.start.Receipt
		n.w.note(res.Signable(n.id))
	} else {
		n.w.note(res.Sign(n.key))
	}
	n.at(n.peer.FreeChanged)
	if r.then != nil && handed == nil {
		n.at(n.peer.LeaveLater)
	}
	n.step(n.m.Worker(), message.Ended{Task: r.start.Task, Attempt: r.start.Attempt, Result: res, Handed: handed})
}

// The times that saving may take, as of a live node: when the leader wants the
// task elsewhere, and when this node goes.
const (
	saveWithin    = 20 * time.Second
	saveOnLeaving = member.GoodbyeMost / 2
	orderWait     = time.Second // for the leader's word on where a task goes
)

// stop ends an attempt, or saves its state and ends it, at this instant, in a
// turn of its own.
func (n *node) stop(e message.Stop) {
	if name := (attemptName{e.Task, e.Attempt}); n.takes[name] != nil {
		n.after(0, ending, func() { n.notTaken(name, e.Reason) })
		return
	}
	r := n.runOf(e.Task, e.Attempt)
	if r == nil {
		return
	}
	stays := func(why string) {
		n.step(n.m.Worker(), message.NotSaved{Task: e.Task, Attempt: e.Attempt, Reason: why})
	}
	n.after(0, ending, func() {
		switch {
		case r.over:
		case e.Save && r.give != nil && r.give.final != nil: // it ends by itself
		case !e.Save || n.standing() && !n.w.hands():
			r.interrupt(e.Reason, moved)
		case !n.w.canSave:
			stays("its state cannot be saved")
		case r.held && !r.saving:
			stays("its state is only being brought")
		default:
			if r.give != nil {
				r.give.breakOff(n.w.delay())
			}
			r.saveAndEnd(e.Reason, moved)
			n.after(saveWithin, talking, func() {
				if !r.over {
					stays("its state could not be saved within " + saveWithin.String())
				}
			})
		}
	})
}

// endRuns gives all tasks back at this instant, in a turn of its own: what the
// node has to say with it goes first, as of a live node, whose tasks take a moment
// to end.
func (n *node) endRuns(why string, as loss) {
	for _, r := range n.runs {
		n.after(0, ending, func() { r.giveBack(why, as) })
	}
}

// giveBack ends a run, with its state where tasks move and that can be saved in
// time.
func (r *run) giveBack(why string, as loss) {
	n := r.n
	switch {
	case r.over, r.keepsOn():
	case n.w.hands() && n.w.s.Hosts.Owner != sim.Kill:
		wait := orderWait
		if n.leaving() {
			wait = member.GoodbyeOrder
		}
		n.after(wait, talking, func() { r.saveHere(why, as) })
	case !n.w.canSave || !n.w.cfg.Moves() || n.standing() || r.held && !r.saving:
		r.interrupt(why, as)
	default:
		r.saveAndEnd(why, as)
		n.after(saveOnLeaving, talking, func() {
			if !r.over {
				r.interrupt(why, as)
			}
		})
	}
}

// saveHere ends a run with its state unless it is on its way.
func (r *run) saveHere(why string, as loss) {
	if r.over || r.give != nil || r.then != nil {
		return
	}
	r.saveAndEnd(why, as)
	if r.n.leaving() {
		r.n.after(saveOnLeaving, talking, func() {
			if !r.over {
				r.interrupt(why, as)
			}
		})
	}
}
