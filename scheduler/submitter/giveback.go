package submitter

import (
	"fmt"

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
	if j.checks == nil || j.state.Settled || j.state.Error != "" || a.s.ended(j) ||
		j.state.Delivery+1 >= ledger.MaxDelivery {
		return
	}
	var back ledger.Set
	for i, by := range j.checks.signer {
		id := task.TaskID{Job: j.id, Index: i}
		if by != worker || a.at[id] != nil || j.checks.back[i] >= maxGivenBack {
			continue
		}
		back.Add(i)
	}
	if back.Count() > 0 {
		a.s.reopen(j, back, worker)
	}
}

// reopen drops results of a job, which is not over then. None of them is of a task that failed.
func (s *Submitter) reopen(j *submitted, back ledger.Set, worker task.PeerID) {
	for _, r := range back {
		for i := r.From; i < r.To; i++ {
			id := task.TaskID{Job: j.id, Index: i}
			j.checks.drop(i)
			j.checks.back[i]++
			s.emit(message.Persist{Key: ResultKey(j.id, i)})
			s.emit(message.Persist{Key: checkKey(id)})
		}
	}
	j.have = j.have.Minus(back)
	j.over = farewell{}
	j.state.Final, j.state.Have, j.state.Failed = false, nil, 0
	sum := &j.state.Summary
	sum.State, sum.Done, sum.Failed, sum.Waiting = message.JobRunning, j.have.Count()-j.failed, j.failed, back.Count()
	j.state.Delivery++
	s.persist(j)
	s.emit(message.Decided{Task: task.TaskID{Job: j.id}, Action: "given back", Peer: worker,
		Reason: fmt.Sprintf("%d results of a worker that was wrong elsewhere: others run these tasks again", back.Count())})
	s.emit(message.JobChanged{Job: j.id})
	s.soon(j)
}
