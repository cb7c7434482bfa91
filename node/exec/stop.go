package exec

import (
	"time"

	"godwit/migrate/handover"
	"godwit/scheduler/message"
)

// saveWithin is how long a task may take to be saved, to go on elsewhere, before the
// leader is told that it stays: less than the leader waits.
const saveWithin = 20 * time.Second

// saves reports whether tasks of a job can be saved on their way.
func (x *Executor) saves(job *Job) bool {
	return x.Runner.Saves() && job != nil && !job.spec.Checkpoint.Off
}

// stop answers a Stop.
func (x *Executor) stop(e message.Stop) {
	a, runs := x.running[message.AttemptName{Task: e.Task, Attempt: e.Attempt}]
	switch {
	case !runs:
		x.refuseArrivals(e.Reason, func(d *destination) bool { return d.name.task == e.Task && d.name.as == e.Attempt })
		x.drop(func(w *start) bool { return w.is(e.Task, e.Attempt) })
	case e.Save:
		x.Log.Info("saving a task", "task", e.Task.String(), "reason", e.Reason)
		x.saveAttempt(a)
	default:
		x.Log.Info("stopping a task", "task", e.Task.String(), "reason", e.Reason)
		a.end()
	}
}

// saveAttempt ends an attempt with its state, out of a standstill too. One that
// cannot be saved, or takes too long to, stays, and its worker hears so; one on its
// way elsewhere goes on there.
func (x *Executor) saveAttempt(a *attempt) {
	stays := func(why string) {
		a.of.Report(message.NotSaved{Task: a.name.Task, Attempt: a.name.Attempt, Reason: why})
	}
	switch {
	case !a.savable() && x.lent.Stop:
		a.end()
	case !a.savable():
		stays("its state cannot be saved")
	case a.controls.leaves() != nil:
		x.hurry(a, "its state is wanted elsewhere")
	case !a.saved.Load():
		a.save()
		x.after(a, saveWithin, func() { stays("its state could not be saved within " + saveWithin.String()) })
	}
}

// cannotFreezeSoon is cannotFreeze from any goroutine.
func (x *Executor) cannotFreezeSoon(a *attempt, why string) {
	x.Host.Post(func() { x.cannotFreeze(a, why) })
}

// cannotFreeze notes that an attempt could not be stopped with its state, and never
// can be: it goes on, and its worker hears so. Where it must not, it ends.
func (x *Executor) cannotFreeze(a *attempt, why string) {
	heed(x)
	if x.running[a.name] != a || !a.savable() { // it has ended, or said so before
		return
	}
	x.Log.Warn("a task cannot be saved on its way", "task", a.name.Task.String(), "reason", why)
	a.stuck = true
	a.saved.Store(false)
	a.of.Report(message.NotSaved{Task: a.name.Task, Attempt: a.name.Attempt, Reason: why})
	if x.leaving != nil || x.Host.MustGo() {
		a.end()
	}
}

// hurry has a task on its way stand still for the rest of it.
func (x *Executor) hurry(a *attempt, why string) {
	if s := a.controls.leaves(); s != nil {
		x.spawn(func() { s.tell(handover.Hurry{Reason: why}) })
	}
}
