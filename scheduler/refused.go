package scheduler

import (
	"slices"
	"time"

	"godwit/scheduler/leasing"
	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// refusedPause is how long a job stays away from a worker that its submitter refuses, unless he
// says so again: every word of what he holds does. It outlasts what a worker waits for.
const refusedPause = 24 * time.Hour

// refuse takes a job away from the workers of which its submitter found results wrong, and keeps
// it away. A host that comes later is refused with his next word.
func (t *jobTable) refuse(j *job, workers []task.PeerID) {
	if len(workers) == 0 {
		return
	}
	t.voidOf(j, workers)
	if j.state != jobOpen {
		return
	}
	for _, peer := range workers {
		h := t.c.members.hosts[peer]
		if h == nil {
			continue
		}
		if h.paused[j].why != message.DropRefused {
			t.c.decided(task.TaskID{Job: j.id}, "kept away", peer, message.DropRefused)
		}
		t.c.members.keepAway(h, j, pause{until: t.c.now.Add(refusedPause), why: message.DropRefused})
		for _, l := range slices.Clone(h.leases) {
			if l.job == j && l.is(leasing.Open) {
				t.c.outbox.drop(peer, l.taskID(), l.attempt, message.DropRefused)
				t.c.reports.giveUp(l, "superseded", message.DropRefused)
			}
		}
	}
}

// voidOf has tasks run again whose results are of refused workers, and not delivered.
func (t *jobTable) voidOf(j *job, workers []task.PeerID) {
	for _, i := range slices.Concat(j.sent, j.ready) {
		row := j.ledger.Rows[i]
		if row == nil || j.ledger.Delivered(i) || row.Verdict(j.ledger.Rule()) != ledger.Done {
			continue
		}
		by := func(r task.Result) bool { return slices.Contains(workers, r.Worker) }
		if slices.ContainsFunc(row.Agreed(), by) {
			t.voidEnd(j, i, message.DropRefused)
		}
	}
}

// reject runs tasks again whose ends the job's submitter does not accept, at most maxRejected of one message.
func (t *jobTable) reject(j *job, ranges []message.Range) {
	n := 0
	for _, r := range ranges {
		for i := r.From; i < min(r.To, j.total) && n < maxRejected; i++ {
			n++
			if !j.ledger.Delivered(i) {
				t.voidEnd(j, i, "its submitter rejects the result")
			}
		}
	}
}

// maxRejected bounds the tasks of one Got.Rejected that are looked at: as many as one Progress delivers.
const maxRejected = message.MaxProgress

// voidEnd makes the end of an undelivered task count for nothing, so that the task runs again.
func (t *jobTable) voidEnd(j *job, i uint64, why string) {
	row := j.ledger.Rows[i]
	if row == nil {
		return
	}
	was := row.Verdict(j.ledger.Rule())
	switch {
	case was == ledger.Done && row.Void():
	case was == ledger.Failed && row.VoidFailures(func(task.PeerID) bool { return true }):
	default:
		return
	}
	t.c.decided(task.TaskID{Job: j.id, Index: i}, "void", j.submitter, why)
	t.c.concludeAnew(j, i, was)
	t.persistRow(j, i)
}
