package submitter

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// maxGivenBack is how often the result of one task is given back. After that this node runs it
// again itself: a leader that brings results of refused workers again and again keeps no job from
// its end.
const maxGivenBack = 4

// doubting is what becomes of results whose worker is not believed any more: they run again, here or
// elsewhere.
type doubting struct{ *audits }

// giveBack has others run the tasks of a worker that is refused, which are of its own making and
// were not run again here, but for those that failed: the leader hears that they are lacking. This
// node would take as long for all of them as it takes to run the job alone. What was delivered to
// its owner is kept, and what runs again here now.
func (a doubting) giveBack(j *submitted, worker task.PeerID) {
	if !j.mayGiveBack(a.s.now) {
		return
	}
	var of ledger.Set
	for i, by := range j.checks.signer {
		if by == worker {
			of.Add(i)
		}
	}
	a.returns(j, of, worker)
}

// mayGiveBack reports whether results of a job may be given back.
func (j *submitted) mayGiveBack(now time.Time) bool {
	return j.checks != nil && !j.state.Settled && j.state.Error == "" && !j.ended(now) &&
		j.state.Delivery+1 < ledger.MaxDelivery
}

// returns gives results back: those that do not run again here, and were not given back too often.
func (a doubting) returns(j *submitted, of ledger.Set, worker task.PeerID) {
	var back ledger.Set
	for _, r := range of {
		for i := r.From; i < r.To; i++ {
			if a.at[task.TaskID{Job: j.id, Index: i}] == nil && j.checks.back[i] < maxGivenBack &&
				!j.checks.failed.Contains(i) {
				back.Add(i)
			}
		}
	}
	if back.Count() > 0 {
		a.reopen(j, back, worker, fmt.Sprintf("%d results of a worker that is not believed any more: others run these "+
			"tasks again", back.Count()))
	}
}

// reopen drops results of a job, which is not over then.
func (a doubting) reopen(j *submitted, back ledger.Set, worker task.PeerID, why string) {
	for _, r := range back {
		for i := r.From; i < r.To; i++ {
			j.checks.back[i]++
		}
	}
	a.drop(j, back)
	sum := &j.state.Summary
	sum.State, sum.Done, sum.Failed, sum.Waiting = message.JobRunning, j.have.Count()-j.failed, j.failed, back.Count()
	a.abroad.goOn(j)
	a.s.emit(message.Decided{Task: task.TaskID{Job: j.id}, Action: "given back", Peer: worker,
		Reason: task.ClipMessage(why)})
}

// distrust puts every result of a worker that was not run again in doubt: it was wrong once. refused
// says that it gets no more tasks; then others run these again, as far as they can be given back.
func (a doubting) distrust(worker task.PeerID, refused bool) {
	a.abroad.recount = a.abroad.recount || refused
	for _, id := range slices.Sorted(maps.Keys(a.s.jobs)) {
		if j := a.s.jobs[id]; j.checks != nil {
			a.distrustIn(j, worker, refused)
		}
	}
}

func (a doubting) distrustIn(j *submitted, worker task.PeerID, refused bool) {
	if of := j.checks.by[worker]; of != nil {
		a.doubt(j, worker, of.tasks)
		a.s.emit(message.JobChanged{Job: j.id})
	}
	a.doubtVouched(j, worker)
	a.doubtLegs(j, worker, refused)
	if !a.abroad.says(worker) { // nor has what it told of others counted for anything
		a.doubtTold(j, worker)
	}
	if refused {
		a.giveBack(j, worker)
	}
}

// doubtVouched has results run again that a worker came to as well.
func (a doubting) doubtVouched(j *submitted, worker task.PeerID) {
	of := j.checks.vouched[worker]
	if of == nil {
		return
	}
	voted := a.doubtEach(j, of, func(both ledger.Set) {
		if !a.abroad.lends && j.mayGiveBack(a.s.now) { // others compare again
			a.returns(j, both, worker)
		}
	})
	if voted && a.known(worker).Faults > 0 {
		a.abroad.pardon()
	}
	a.s.emit(message.JobChanged{Job: j.id})
}

// doubtLegs has results run again whose runs went on from a state that a worker left.
func (a doubting) doubtLegs(j *submitted, worker task.PeerID, refused bool) {
	if of := j.checks.legs[worker]; of != nil {
		a.doubtEach(j, of, func(both ledger.Set) {
			if refused && j.mayGiveBack(a.s.now) {
				a.returns(j, both, worker)
			}
		})
		a.s.emit(message.JobChanged{Job: j.id})
	}
}

// doubtEach has results run again that were accepted, whoever signed them, and calls then with those of each
// signer. It reports whether there are any.
func (a doubting) doubtEach(j *submitted, of *ledger.Set, then func(ledger.Set)) (any bool) {
	for _, signer := range slices.Sorted(maps.Keys(j.checks.by)) {
		its := j.checks.by[signer]
		both := of.Minus(of.Minus(its.tasks))
		if len(both) == 0 {
			continue
		}
		its.tasks = its.tasks.Minus(both)
		any = true
		a.doubtAll(j, signer, both)
		then(both)
	}
	return any
}

// doubt has results of a worker run again that were accepted.
func (a doubting) doubt(j *submitted, worker task.PeerID, tasks ledger.Set) {
	delete(j.checks.by, worker)
	a.doubtAll(j, worker, tasks)
}

func (a doubting) doubtAll(j *submitted, worker task.PeerID, tasks ledger.Set) {
	for _, r := range tasks {
		for i := r.From; i < r.To; i++ {
			c := checked{Index: i, State: verdictDue, Doubted: true, Worker: worker,
				Failed: j.checks.failed.Contains(i)}
			j.checks.forgetWith(i)
			a.note(j, c)
		}
	}
}

// refused returns the workers that are to have no task of a job: of whom a result was found wrong,
// or outvoted where the job is checked, or one of this job whose compiler may err with its program. They
// are in order, and at most as many as a message may name.
func (a *audits) refused(j *submitted) []task.PeerID {
	var out []task.PeerID
	if j.checks != nil {
		for worker := range j.checks.excused {
			if a.known(worker).Faults == 0 {
				out = append(out, worker)
			}
		}
	}
	for worker, c := range a.credits {
		if c.Faults > 0 || j.checks != nil && !c.Says(a.s.now) {
			out = append(out, worker)
		}
	}
	slices.Sort(out)
	return out[:min(len(out), message.MaxRefused)]
}

// pardon gives all who were outvoted their say again: one that had a say then lied.
func (a *abroad) pardon() {
	for _, w := range slices.Sorted(maps.Keys(a.credits)) {
		if c := a.credits[w]; c.Faults == 0 && !c.Says(a.s.now) {
			a.s.emit(message.Decided{Action: "has a say again", Peer: w,
				Reason: "it was outvoted, and one that others agreed with was wrong"})
			c.Outvoted = time.Time{}
			a.keep(w)
		}
	}
}

// Some results of a job that is checked are none, whatever they say: those that show nothing by which
// they could be held against another run. They are given back, and their worker is kept away from the job.
// It is not named: it may be of an older version. So nobody gains by hiding how it ran a task.

// noResult says why a result counts for nothing, or "".
func (c *checks) noResult(r *task.Result) string {
	switch {
	case r.Outcome != task.Completed:
	case r.Trail == nil && c.trailed:
		return "it shows no trail, and the program leaves one"
	case r.Trail != nil && !task.KnownEngine(r.Trail.Engine):
		return fmt.Sprintf("no engine is called %q that runs programs", r.Trail.Engine)
	}
	return ""
}

// hidden are results that hide how they were made.
type hidden struct{ a *audits }

// refuse has others run a task whose result is none, and keeps its worker away from the job. Where
// it was given back too often it is run again here.
func (h hidden) refuse(j *submitted, t *message.TaskSummary, why string) {
	a := h.a
	r := &t.Results[0]
	a.s.emit(message.Decided{Task: task.TaskID{Job: j.id, Index: t.Index}, Action: "no result", Peer: r.Worker,
		Reason: why})
	c := checked{Index: t.Index, State: verdictDue, Doubted: true, Worker: r.Worker}
	if j.staged == nil && t.From == nil {
		c.Poll = newPoll(r).kept("", false)
	}
	a.note(j, c)
	h.keepAway(j, r.Worker)
	doubting{a}.giveBack(j, r.Worker)
}

// keepAway has a worker get no more tasks of a job.
func (h hidden) keepAway(j *submitted, worker task.PeerID) {
	if j.checks.excused[worker] {
		return
	}
	j.checks.excused[worker] = true
	if !j.state.Final {
		h.a.s.got(j)
	}
}

// leavesTrail takes in that the program of a job leaves a trail, as this node saw itself: what was taken
// before of workers that showed none is none.
func (h hidden) leavesTrail(j *submitted, here *task.Result) {
	a, c := h.a, j.checks
	if c.trailed || here.Outcome != task.Completed || here.Trail == nil {
		return
	}
	c.trailed = true
	for _, w := range slices.Sorted(maps.Keys(c.trailless)) {
		a.s.emit(message.Decided{Task: task.TaskID{Job: j.id, Index: here.Task.Index}, Action: "no result", Peer: w,
			Reason: "its results show no trail, and the program leaves one"})
		h.keepAway(j, w)
		doubting{a}.distrustIn(j, w, true)
	}
	clear(c.trailless)
}
