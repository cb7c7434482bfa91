package exec

import (
	"context"

	"godwit/sandbox"
	"godwit/scheduler/message"
	"godwit/task"
)

// An audit is a task that runs again, whole, so that its result can be held against one that
// another member signed. It belongs to the loop.
type audit struct {
	message.Audit
	of   Client
	as   message.Attempt
	job  *Job                  // its own, so that no Release takes it away; nil until it is ready
	end  context.CancelFunc    // of what makes the job ready
	done func(message.Audited) // called once
	// signed is what the task's worker signed; nil if nothing is held of it.
	signed  *task.Result
	stopAt  uint64
	brought broughtPart     // held by the audit
	heard   message.Audited // what is known of the answer
}

// take takes over what a part begins with.
func (u *audit) take(b broughtPart) {
	if u.brought = b; b.part != nil {
		u.stopAt, u.heard.Part, u.heard.Asked = b.stopAt, b.part, b.asked
	}
}

// saw takes in what the run came to.
func (u *audit) saw(rep *sandbox.Report, _ *task.Result) { u.heard.Passed = rep.Trail }

// Audit runs a task of a job of this node's own again, or a part of it, once a core is free for it,
// and calls done with the result that this node signs, and all else but Held: on the loop, exactly
// once, perhaps before it returns. signed is what the task's worker signed. The
// outputs are held until done returns. Where the run was ended, its outcome is Interrupted; where
// the job could not be made ready, HostError. An audit is never saved or moved. Audit is on the
// loop.
func (x *Executor) Audit(of Client, e message.Audit, signed *task.Result, done func(message.Audited)) {
	x.audited++
	ctx, end := context.WithCancel(x.ctx)
	// A lease's epoch is 1 at least: no worker's attempt has such a name.
	u := &audit{Audit: e, of: of, as: message.Attempt{Seq: x.audited}, end: end, done: done,
		signed: signed, stopAt: e.StopAt,
		heard: message.Audited{Task: e.Task, Interpreted: e.Interpreted, StopAt: e.StopAt, Part: e.Part, First: e.First}}
	x.audits[u] = true
	if x.leaving != nil {
		interruptAudit(x, u, "the member is leaving")
		return
	}
	x.Log.Debug("a task is to run again", "task", e.Task.String(), "interpreted", e.Interpreted)
	x.spawn(func() { x.bringAudited(ctx, u) })
}

// bringAudited makes the job of an audit ready. Nobody has to be asked: who submitted a job has
// all of it.
func (x *Executor) bringAudited(ctx context.Context, u *audit) {
	e := message.Prepare{Job: u.Task.Job, Key: u.Key}
	var job *Job
	release := func() {}
	spec, submitter, err := x.jobs.open(ctx, e)
	if err == nil {
		release = x.Content.Hold(JobContent(spec)) // until the loop names it: see auditRoots
		job, err = x.jobs.make(ctx, spec, u.of.Overlay(), submitter, e)
	}
	var part broughtPart
	if err == nil {
		part = u.bringPart(ctx, x, job)
	}
	x.Host.Post(func() {
		defer release()
		switch {
		case !x.audits[u]: // it was given up meanwhile
			x.jobs.discard(job)
			part.drop()
		case ctx.Err() != nil:
			x.jobs.discard(job)
			part.drop()
			interruptAudit(x, u, "the node stops")
		case err != nil:
			x.Log.Warn("a task cannot run again", "task", u.Task.String(), "err", err)
			x.auditOver(u, x.unrun(u.Task, task.HostError, err.Error(), nil))
		case part.unserved != "":
			x.jobs.discard(job)
			part.drop()
			u.heard.Unserved, u.heard.Refused, u.heard.Lost = part.unserved, part.refused, part.lost
			u.heard.Asked = part.asked
			x.auditOver(u, x.unrun(u.Task, task.Interrupted, part.unserved, nil))
		default:
			u.job = job
			u.take(part)
			putOff(x, start{of: u.of, Start: message.Start{Task: u.Task, Attempt: u.as, Reads: u.Reads}, audit: u})
		}
	})
}

// Unneeded ends an audit with First that nobody waits for any more, on the loop.
func (x *Executor) Unneeded(of Client, e message.Unneeded) {
	is := func(u *audit) bool { return u != nil && u.First && u.of == of && u.Task == e.Task }
	for _, a := range x.running {
		if is(a.audit) {
			a.end()
		}
	}
	x.drop(func(w *start) bool { return is(w.audit) })
	for u := range x.audits {
		if u.job == nil && is(u) {
			interruptAudit(x, u, "it is not wanted any more")
			return
		}
	}
}

// auditOver says what came of an audit, and forgets it.
func (x *Executor) auditOver(u *audit, res task.Result) {
	delete(x.audits, u)
	u.end()
	x.jobs.discard(u.job)
	u.heard.Here = res
	u.done(u.heard)
	u.brought.drop()
}

// interruptAudit ends an audit that did not begin.
func interruptAudit(x *Executor, u *audit, why string) {
	x.auditOver(u, x.unrun(u.Task, task.Interrupted, why, nil))
}

// dropAudits ends the audits of some clients whose jobs are still made ready.
func (x *Executor) dropAudits(which func(Client) bool) {
	var dropped []*audit
	for u := range x.audits {
		if u.job == nil && which(u.of) {
			dropped = append(dropped, u)
		}
	}
	for _, u := range dropped { // not in the loop above: whoever hears of it may ask again
		interruptAudit(x, u, "it was not ready to run yet")
	}
}

// endAudits ends the audits that run.
func (x *Executor) endAudits() {
	for _, a := range x.running {
		if a.audit != nil {
			a.end()
		}
	}
}

// holdAudited keeps what an audit has put out until release is called: nothing names it yet.
func (x *Executor) holdAudited(a *attempt, res *task.Result) (release func()) {
	if a.audit == nil {
		return func() {}
	}
	return x.Content.Hold(message.RemoteOutputs(res))
}

// auditRoots lists the jobs of audits and what their tasks read: a job may be over long before
// its audits are.
func (x *Executor) auditRoots() []task.CID {
	var out []task.CID
	for u := range x.audits {
		out = append(out, task.CID(u.Task.Job))
		if u.job != nil {
			out = append(out, JobContent(u.job.spec)...)
		}
	}
	return out
}
