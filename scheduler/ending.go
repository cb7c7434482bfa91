package scheduler

import (
	"maps"
	"slices"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// Jobs of which no more is begun, since their submitters say so: what runs of them ends, and then they
// are cancelled. See message.Cancel.

// stopGiving gives a job no more leases from now on.
func stopGiving(t *jobTable, j *job, signature []byte) {
	if j.ledger.Facts.IsEnding() {
		return
	}
	j.ledger.Facts.Merge(&ledger.Facts{Ending: signature})
	t.persistFacts(j)
	isEnding(t, j)
	t.c.decided(task.TaskID{Job: j.id}, "ending", j.submitter, "its submitter wants no more of it begun")
}

// isEnding takes a job of which no more is begun from those that wait for slots.
func isEnding(t *jobTable, j *job) {
	if j.state != jobOpen || !j.ledger.Facts.IsEnding() {
		return
	}
	t.c.claims.dequeue(j)
	if t.ending == nil {
		t.ending = map[task.JobID]bool{}
	}
	t.ending[j.id] = true
	t.c.touch(j)
}

// endEnding cancels those of these jobs of which nothing runs any more. A leader that has just taken
// over waits until it has heard what runs.
func (t *jobTable) endEnding() {
	if len(t.ending) == 0 || t.c.term.recovering {
		return
	}
	for _, id := range slices.Sorted(maps.Keys(t.ending)) {
		j := t.jobs[id]
		switch {
		case j == nil || j.state != jobOpen:
		case len(j.live) > 0:
			continue
		default:
			j.ledger.Facts.Merge(&ledger.Facts{Cancel: j.ledger.Facts.Ending})
			t.persistFacts(j)
			t.end(j, message.DropCancelled)
			t.c.decided(task.TaskID{Job: id}, "cancelled", j.submitter,
				"its submitter wanted no more of it begun, and nothing of it runs")
			j.asked, j.credit = true, true
		}
		delete(t.ending, id)
	}
}
