package scheduler

import (
	"maps"
	"slices"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// A submitter may have a task run once more, by a worker that has nothing to do with the result that
// it has: what both come to is held against each other. It says that it lacks the task, in another
// delivery, and who is not to have it. So the task waits as any other does, and its worker gets an
// ordinary lease of it: what it should come to, or that somebody asks, nobody but the submitter and
// coordinators know. Who may have it is in memory alone: the submitter says it to each leader.

// bar takes in which tasks a submitter has run once more: these, and no others.
func (t *jobTable) bar(j *job, again []message.Again) {
	j.barred = nil
	for i := range again {
		a := &again[i]
		if a.Index >= j.total {
			continue
		}
		if j.barred == nil {
			j.barred = make(map[uint64]bars, len(again))
		}
		j.barred[a.Index] = bars{not: slices.Clone(a.Not), only: slices.Clone(a.Only)}
	}
}

// runAgain has tasks run once more whose results here are of workers that have no say in them, and
// takes them from such workers. What such a worker left of one is forgotten.
func (t *jobTable) runAgain(j *job) {
	if j.state != jobOpen && j.state != jobOver {
		return
	}
	if len(j.barred) == 0 {
		return
	}
	for _, i := range slices.Sorted(maps.Keys(j.barred)) {
		if b := j.barred[i]; !j.ledger.Delivered(i) {
			t.voidBarred(j, i, b)
			t.dropBarred(j, i, b)
		}
	}
}

// voidBarred makes results and states of barred workers count for nothing.
func (t *jobTable) voidBarred(j *job, i uint64, b bars) {
	row := j.ledger.Rows[i]
	if row == nil {
		return
	}
	changed := row.Best != nil && !b.letsState(row.Best)
	if changed {
		row.Best = nil
	}
	barred := func(r task.Result) bool { return b.bars(r.Worker) }
	if row.Verdict(j.ledger.Rule()) == ledger.Done && slices.ContainsFunc(row.Agreed(), barred) && row.Void() {
		t.c.concludeAnew(j, i, ledger.Done)
		changed = true
	}
	was := row.Verdict(j.ledger.Rule())
	if row.VoidRuns(func(r *task.Result) bool { return b.bars(r.Worker) && failedBy(was, r) }) {
		if was == ledger.Failed {
			t.c.concludeAnew(j, i, was)
		}
		changed = true
	}
	if changed {
		t.persistRow(j, i)
	}
}

// failedBy reports whether a run may be a reason that its task failed: if the task did fail, a completed run that
// agrees with too few others is one, too.
func failedBy(was ledger.Verdict, r *task.Result) bool {
	return was == ledger.Failed || r.Outcome != task.Completed
}

// dropBarred takes a task from barred workers that have it.
func (t *jobTable) dropBarred(j *job, i uint64, b bars) {
	live := j.live[i]
	if live == nil {
		return
	}
	for _, l := range slices.Clone(live.leases) {
		if b.bars(l.host.peer) {
			t.c.outbox.drop(l.host.peer, l.taskID(), l.attempt, message.DropSuperseded)
			t.c.reports.giveUp(l, "superseded", message.DropSuperseded)
		}
	}
}
