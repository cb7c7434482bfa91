package exec

import (
	"errors"
	"slices"

	"godwit/migrate/handover"
	"godwit/overlay"
	"godwit/scheduler/message"
	"godwit/task"
)

// putOff has starts wait for a core.
func putOff(x *Executor, more ...start) {
	x.waiting = append(x.waiting, more...)
	x.startWaiting()
}

// startWaiting begins what waits, in order, as cores come free: first tasks of leases and audits of what is held.
func (x *Executor) startWaiting() {
	heed(x)
	for len(x.waiting) > 0 && len(x.running) < x.lent.Cores {
		k := max(0, slices.IndexFunc(x.waiting, func(w start) bool { return w.audit == nil || !w.audit.First }))
		w := x.waiting[k]
		x.waiting = slices.Delete(x.waiting, k, k+1)
		x.begin(w)
	}
	if k := x.alone(); k >= 0 {
		w := x.waiting[k]
		x.waiting = slices.Delete(x.waiting, k, k+1)
		x.begin(w)
	}
	x.ahead.hold(len(x.waiting) > 0)
}

// alone returns which of those that wait begins though the owner lends no core; -1 for none. It is an audit
// of a job of his own that nobody else is left to do, as he asked for with the job: one at a time, at the
// lowest priority as all sandboxes, and not while his rules have everything stand still.
func (x *Executor) alone() int {
	if x.lent.Cores > 0 || x.lent.Stop || x.lent.Drained || x.lent.State != overlay.Available || len(x.running) > 0 {
		return -1
	}
	return slices.IndexFunc(x.waiting, func(w start) bool { return w.audit != nil && w.audit.Alone })
}

// begin answers a Start with exactly one Ended, and an audit with its result, from a goroutine of
// its own.
func (x *Executor) begin(w start) {
	var a *attempt
	if w.audit != nil {
		a = x.newAttempt(w, w.audit.job, false)
	} else {
		job := x.jobs.get(w.Task.Job)
		a = x.newAttempt(w, job, x.saves(job))
	}
	x.running[a.name] = a
	x.ahead.count(1)
	x.Host.CountChanged()
	x.hand(func() {
		for e := w.Start; a != nil; {
			a, e = carry(x, a, e)
		}
	})
}

// carry runs an attempt to its end and tells the loop of it, and returns what begins in its place; nil for nothing.
func carry(x *Executor, a *attempt, e message.Start) (*attempt, message.Start) {
	res := x.runTask(a, x.prepareSaving(a, e))
	a.end()
	release := x.holdAudited(a, &res)
	then, next := x.succeed(a, &res)
	x.Host.PostEnd(res.Outcome, func() {
		x.ended(a, res, then)
		release()
	})
	return then, next
}

// prepareSaving prepares for an attempt, and brings its checkpoint here. A checkpoint
// that cannot be had costs the work it stands for, not the task. It returns nil for an
// attempt whose state is not saved.
func (x *Executor) prepareSaving(a *attempt, e message.Start) *saving {
	if a.controls == nil {
		return nil
	}
	s := x.newSaving(a.context, a, a.job, e.Left, func(why string) { x.cannotFreezeSoon(a, why) })
	if e.From != nil {
		manifest, err := x.bringPatiently(a.context, e, s.pages, a.stop)
		if err == nil && a.receipt != nil {
			s.chain, err = chainFrom(a.job.spec, e.Task, e.From, manifest)
		}
		if err == nil {
			err = a.mayGoOn(s.chain)
		}
		if err != nil {
			x.Log.Warn("a checkpoint could not be had: the task begins anew", "task", e.Task.String(), "err", err)
			s.chain = nil
			s.left.anew(e.From.CPU)
			if errors.Is(err, errBad) && a.context.Err() == nil {
				x.callBad(a, e.From.CID)
			}
		} else {
			s.refused = func() { x.callBad(a, e.From.CID) }
			s.From, s.before = manifest, e.From.CPU
		}
	}
	s.left.did(0) // the checkpoint took its time to come
	x.saveOnTime(a, a.job, s)
	return s
}

// callBad tells the worker that nobody can go on from the state that an attempt's lease names.
func (c *core) callBad(a *attempt, state task.CID) {
	if a.receipt == nil {
		return
	}
	v, err := task.Vouch(c.Key, a.receipt, task.State{Task: a.name.Task, CID: state, Bad: true})
	if err != nil {
		c.Log.Error("calling a checkpoint bad", "task", a.name.Task.String(), "err", err)
		return
	}
	c.report(a.of, message.StateBad{Task: a.name.Task, Attempt: a.name.Attempt, Word: *v})
}

// ended tells whoever wanted an attempt of its end, on the loop, and of what has begun in its place; nil for nothing.
func (x *Executor) ended(a *attempt, res task.Result, then *attempt) {
	heed(x)
	delete(x.running, a.name)
	var name *message.AttemptName
	if then != nil {
		name = &then.name
	} else {
		x.ahead.count(-1)
		x.startWaiting()
		x.Host.CountChanged()
		x.cap()
	}
	if s := a.controls.leaves(); s != nil { // it came to its own end
		x.spawn(func() { s.tell(handover.Ended{Reason: res.Message}) })
	}
	if a.audit != nil {
		x.auditOver(a.audit, res)
		return
	}
	handed := a.controls.ranOn()
	if a.saved.Load() && handed == nil {
		x.Host.StateSaved()
	}
	a.of.Report(message.Ended{Task: a.name.Task, Attempt: a.name.Attempt, Result: res, Handed: handed, Then: name})
}

// Drop ends the attempts that wait for a core here and whose client is one of those, on
// the loop.
func (x *Executor) Drop(which func(Client) bool) {
	dropReady(x, func(w *start) bool { return which(w.of) })
	x.drop(func(w *start) bool { return which(w.of) })
	x.dropAudits(which)
}

func (x *Executor) drop(which func(*start) bool) {
	var ended []start
	x.waiting = slices.DeleteFunc(x.waiting, func(w start) bool {
		if which(&w) {
			ended = append(ended, w)
			return true
		}
		return false
	})
	x.ahead.hold(len(x.waiting) > 0)
	for _, w := range ended {
		res := x.unrun(w.Task, task.Interrupted, "it waited for a core, and did not begin", w.Receipt)
		if w.audit != nil {
			x.auditOver(w.audit, res)
			continue
		}
		w.of.Report(message.Ended{Task: w.Task, Attempt: w.Attempt, Result: res})
	}
}
