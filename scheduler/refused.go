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
		if !j.isRefused(h) {
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

// voidOf runs undelivered tasks again whose ends rest on results of refused workers. If a task failed, only the runs of
// these workers are void: those of others still count, so that a small pool has workers left for the rest.
func (t *jobTable) voidOf(j *job, workers []task.PeerID) {
	refused := func(w task.PeerID) bool { return slices.Contains(workers, w) }
	for _, i := range slices.Concat(j.sent, j.ready) {
		row := j.ledger.Rows[i]
		if row == nil || j.ledger.Delivered(i) {
			continue
		}
		switch row.Verdict(j.ledger.Rule()) {
		case ledger.Done:
			if slices.ContainsFunc(row.Agreed(), func(r task.Result) bool { return refused(r.Worker) }) {
				t.voidEnd(j, i, message.DropRefused)
			}
		case ledger.Failed:
			t.voidFailed(j, i, message.DropRefused, func(r *task.Result) bool {
				by, _ := r.AnsweredBy()
				return slices.ContainsFunc(by, refused)
			})
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

// voidEnd makes the end of an undelivered task count for nothing, so that the task runs again, whether it is done, has
// failed by itself, or has failed because its runs do not agree.
func (t *jobTable) voidEnd(j *job, i uint64, why string) {
	row := j.ledger.Rows[i]
	switch {
	case row == nil:
	case row.Verdict(j.ledger.Rule()) == ledger.Failed:
		t.voidFailed(j, i, why, func(*task.Result) bool { return true })
	case row.Verdict(j.ledger.Rule()) == ledger.Done && row.Void():
		t.voided(j, i, ledger.Done, why)
	}
}

// voidFailed makes some runs of a task that failed count for nothing.
func (t *jobTable) voidFailed(j *job, i uint64, why string, of func(*task.Result) bool) {
	if j.ledger.Rows[i].VoidRuns(of) {
		t.voided(j, i, ledger.Failed, why)
	}
}

// voided takes back the verdict of a task some of whose runs have become void.
func (t *jobTable) voided(j *job, i uint64, was ledger.Verdict, why string) {
	t.c.decided(task.TaskID{Job: j.id, Index: i}, "void", j.submitter, why)
	t.c.concludeAnew(j, i, was)
	t.persistRow(j, i)
}

// isRefused reports whether the job's submitter accepts no results of a host, as far as is known.
func (j *job) isRefused(h *host) bool { return h.paused[j].why == message.DropRefused }
