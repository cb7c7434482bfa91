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
		if !slices.ContainsFunc(row.Agreed(), by) || !row.Void() {
			continue
		}
		t.c.decided(task.TaskID{Job: j.id, Index: i}, "void", j.submitter, message.DropRefused)
		t.c.concludeAnew(j, i, ledger.Done)
		t.persistRow(j, i)
	}
}
