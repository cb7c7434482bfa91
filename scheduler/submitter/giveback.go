package submitter

import (
	"fmt"
	"maps"
	"slices"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// maxGivenBack is how often the result of one task is given back. After that this node runs it
// again itself: a leader that brings results of refused workers again and again keeps no job from
// its end.
const maxGivenBack = 4

// giveBack has others run the tasks of a worker that is refused, which are of its own making and
// were not run again here: the leader hears that they are lacking. This node would take as long
// for all of them as it takes to run the job alone. What was delivered to its owner is kept, and
// what runs again here now.
func (a *audits) giveBack(j *submitted, worker task.PeerID) {
	if j.checks == nil || j.state.Settled || j.state.Error != "" || j.ended(a.s.now) ||
		j.state.Delivery+1 >= ledger.MaxDelivery {
		return
	}
	var back ledger.Set
	for i, by := range j.checks.signer {
		id := task.TaskID{Job: j.id, Index: i}
		if by != worker || a.at[id] != nil || j.checks.back[i] >= maxGivenBack || j.checks.failed.Contains(i) {
			continue
		}
		back.Add(i)
	}
	if back.Count() > 0 {
		a.reopen(j, back, worker)
	}
}

// reopen drops results of a job, which is not over then.
func (a *audits) reopen(j *submitted, back ledger.Set, worker task.PeerID) {
	for _, r := range back {
		for i := r.From; i < r.To; i++ {
			id := task.TaskID{Job: j.id, Index: i}
			if j.checks.failed.Contains(i) {
				j.failed--
			}
			j.checks.drop(i)
			j.checks.back[i]++
			if j.checks.others {
				a.s.audits.abroad.drop(id)
			}
			a.s.emit(message.Persist{Key: ResultKey(j.id, i)})
			a.s.emit(message.Persist{Key: checkKey(id)})
		}
	}
	j.have = j.have.Minus(back)
	sum := &j.state.Summary
	sum.State, sum.Done, sum.Failed, sum.Waiting = message.JobRunning, j.have.Count()-j.failed, j.failed, back.Count()
	a.abroad.goOn(j)
	a.s.emit(message.Decided{Task: task.TaskID{Job: j.id}, Action: "given back", Peer: worker,
		Reason: fmt.Sprintf("%d results of a worker that was wrong elsewhere: others run these tasks again", back.Count())})
}

// distrust puts every result of a worker that was not run again in doubt: it was wrong once. refused
// says that it gets no more tasks; then others run these again, as far as they can be given back.
func (a *audits) distrust(worker task.PeerID, refused bool) {
	for _, id := range slices.Sorted(maps.Keys(a.s.jobs)) {
		if j := a.s.jobs[id]; j.checks != nil {
			a.distrustIn(j, worker, refused)
		}
	}
}

func (a *audits) distrustIn(j *submitted, worker task.PeerID, refused bool) {
	if of := j.checks.by[worker]; of != nil {
		a.doubt(j, worker, of.tasks)
		a.s.emit(message.JobChanged{Job: j.id})
	}
	a.doubtVouched(j, worker)
	if refused {
		a.giveBack(j, worker)
	}
}

// doubtVouched has results run again that a worker came to as well.
func (a *audits) doubtVouched(j *submitted, worker task.PeerID) {
	of := j.checks.vouched[worker]
	if of == nil {
		return
	}
	for _, signer := range slices.Sorted(maps.Keys(j.checks.by)) {
		its := j.checks.by[signer]
		both := of.Minus(of.Minus(its.tasks))
		if len(both) == 0 {
			continue
		}
		its.tasks = its.tasks.Minus(both)
		a.doubtAll(j, signer, both)
	}
	a.s.emit(message.JobChanged{Job: j.id})
}

// doubt has results of a worker run again that were accepted.
func (a *audits) doubt(j *submitted, worker task.PeerID, tasks ledger.Set) {
	delete(j.checks.by, worker)
	a.doubtAll(j, worker, tasks)
}

func (a *audits) doubtAll(j *submitted, worker task.PeerID, tasks ledger.Set) {
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
// or one of this job whose compiler may err with its program. They are in order, and at most as
// many as a message may name.
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
		if c.Faults > 0 {
			out = append(out, worker)
		}
	}
	slices.Sort(out)
	return out[:min(len(out), message.MaxRefused)]
}
