package exec

import (
	"fmt"
	"slices"

	"godwit/owner"
	"godwit/scheduler/message"
	"godwit/task"
)

// Do carries out a worker's effect, or starts what will answer it, on the loop. It takes
// Prepare, Start, Ready, Begin, Unready, HandOver, Expect, Stop and Release; each Start is answered by exactly
// one Ended.
func (x *Executor) Do(of Client, effect message.Effect) {
	heed(x)
	switch e := effect.(type) {
	case message.Prepare:
		x.jobs.prepare(of, e)
	case message.Start:
		if w := (start{of: of, Start: e}); !x.insteadOf(w) {
			putOff(x, w)
		}
	case message.Ready:
		haveReady(x, of, e)
	case message.Begin:
		beginReady(x, of, e)
	case message.Unready:
		unready(x, of, e)
	case message.HandOver:
		x.handOver(of, e)
	case message.Expect:
		x.expect(of, e)
	case message.Stop:
		x.stop(e)
	case message.Release:
		x.jobs.release(of, e.Job)
	default:
		x.Log.Error("effect of an unknown kind", "kind", fmt.Sprintf("%T", e))
	}
}

// Lend takes in what the owner decides, on the loop. Tasks have been stopped already.
// Fit does what follows for those that run.
func (x *Executor) Lend(d owner.Decision) {
	heed(x)
	x.lent = d
	x.ahead.lend(d)
	if d.Stop { // what is on its way goes on, out of the standstill
		for _, a := range x.running {
			x.hurry(a, d.Reason)
		}
	}
	if d.Drained { // nobody else takes an audit over, and what is left here is waited for
		x.endAudits()
	}
	if d.Cores == 0 {
		x.refuseArrivals(d.Reason, func(*destination) bool { return true })
	}
}

// Fit begins what waits and now has a core, and keeps what runs within what the owner
// lends: tasks are given back, the newest first, until the rest needs no more memory.
// It is on the loop.
func (x *Executor) Fit() {
	heed(x)
	x.startWaiting()
	x.cap()
	x.shed()
}

// cap keeps running tasks within the cap on cores, which may be lower than when they
// began.
func (x *Executor) cap() {
	if err := x.Runner.Cap(x.lent.Cores, x.lent.Memory, len(x.running)); err != nil {
		x.Log.Warn("a cap cannot be set", "err", err)
	}
}

// Count returns how many attempts run here, on the loop.
func (x *Executor) Count() int {
	heed(x)
	return len(x.running)
}

// EachRunning calls f with the client of each attempt that runs here, on the loop.
func (x *Executor) EachRunning(f func(of Client)) {
	heed(x)
	for _, a := range x.running {
		f(a.of)
	}
}

// Roots lists the content that prepared jobs, audits and those who may ask for kept states need, on the loop.
func (x *Executor) Roots() []task.CID {
	x.kept.expire(x.Host.Now())
	x.forgetKept()
	return slices.Concat(x.jobs.roots(), x.auditRoots(), x.kept.roots())
}

// Reads lists the content that the tasks of a job read, which is ready here; nil for a job
// that is not. It is called on the loop.
func (x *Executor) Reads(id task.JobID) []task.CID { return x.jobs.reads(id) }

// Saves reports whether the state of tasks can be saved here.
func (x *Executor) Saves() bool { return x.Runner.Saves() }
