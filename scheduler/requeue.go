package scheduler

import (
	"slices"

	"godwit/scheduler/leasing"
	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// giveUp ends a lease without a result and lets the task wait again.
func (r *reports) giveUp(l *lease, outcome, reason string) {
	j, i := l.job, l.task.index
	if outcome == "lost" && r.c.transfers.orphan(l) {
		return
	}
	if outcome == "lost" {
		r.lost++
	}
	r.c.removeLease(l, outcome, reason)
	r.c.decided(task.TaskID{Job: j.id, Index: i}, "requeued", l.host.peer, reason)
	r.waitAgain(j, i)
}

// waitAgain puts a task back in the queue if it wants another placement.
func (r *reports) waitAgain(j *job, i uint64) {
	if j.state != jobOpen || j.wants(i) == 0 || j.bringing[i] > 0 {
		return
	}
	j.comeBack(i)
	r.c.claims.enqueue(j)
	r.c.claims.sumUp(j)
	r.c.dispatch.widened = true
}

// current returns the job that a worker speaks of, if there is such a task.
func (r *reports) current(id task.TaskID) *job {
	j := r.c.table.jobs[id.Job]
	if j == nil || j.state == jobFetching || id.Index >= j.total {
		return nil
	}
	return j
}

// leaseOf returns the host's lease of that attempt.
func leaseOf(j *job, h *host, i uint64, a message.Attempt) *lease {
	if t := j.live[i]; t != nil {
		for _, l := range t.leases {
			if l.host == h && l.attempt == a {
				return l
			}
		}
	}
	return nil
}

func (r *reports) thank(h *host, e *message.Ending) {
	ack := r.c.outbox.ack(h.peer)
	ack.Ended = append(ack.Ended, message.AttemptName{Task: e.Result.Task, Attempt: e.Attempt})
}

// reports takes in what workers say.
type reports struct {
	c *Coordinator

	lost    int         // attempts lost with their workers
	judging *refereeing // what this node runs to see which replica is wrong; nil for nothing
}

// endDependent ends the leases of a task that cannot agree with its results any more: a worker
// answers for both. It came back with an end after it was thought lost, mostly.
func (r *reports) endDependent(j *job, i uint64, row *ledger.Row) {
	t := j.live[i]
	if t == nil || !j.replicated() {
		return
	}
	var by []task.PeerID
	for _, res := range row.Agreed() {
		workers, _ := res.AnsweredBy()
		by = append(by, workers...)
	}
	for _, l := range slices.Clone(t.leases) {
		if l.is(leasing.Open) && !task.Apart(l.answers(), by) {
			r.c.outbox.drop(l.host.peer, l.taskID(), l.attempt, message.DropSuperseded)
			r.c.removeLease(l, "superseded", "a worker answers for this run and for a result that is there")
		}
	}
}
