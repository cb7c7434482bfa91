package scheduler

import (
	"slices"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// Of a job with stages a submitter may hold results of which no row is here: it took them from another job of
// its own, or the leader that had the rows is gone with them. Those tasks do not run: the leader asks the submitter
// for what it holds, and leases of tasks that read them are made from that. It is kept in memory alone: a leader that
// begins anew asks anew, and one to which the submitter never speaks runs the tasks.

// holdsEnd reports whether the submitter holds the end of a task that others read.
func (f *flowing) holdsEnd(i uint64) bool { return f != nil && f.theirs.Contains(i) }

// unknown lists the tasks that the submitter holds and of which nothing is known here: what others read of them is
// to be told.
func (f *flowing) unknown() []message.Range {
	if f == nil {
		return nil
	}
	return slices.Clone(f.untold[:min(len(f.untold), message.MaxLacking)])
}

// takesUp ends what runs of tasks that the submitter holds: nobody waits for it.
func takesUp(t *jobTable, j *job, news ledger.Set) {
	for _, r := range news {
		for i := r.From; i < r.To; i++ {
			if j.comesTo(i) != ledger.Open {
				continue
			}
			j.untold.Add(i)
			if j.live[i] != nil {
				t.c.endLeases(j, i, message.DropSuperseded)
			}
		}
	}
	if len(news) > 0 {
		j.asked = j.asked || len(j.untold) > 0
		j.moveCursor(j.wait.cursor)
	}
}

// takesBack has tasks run again, or be brought again, of which the submitter lost what it held.
func takesBack(t *jobTable, j *job, gone ledger.Set) {
	if len(gone) == 0 {
		return
	}
	j.untold = j.untold.Minus(gone)
	j.kept = slices.DeleteFunc(j.kept, func(i uint64) bool {
		if gone.Contains(i) {
			j.ready = append(j.ready, i)
			return true
		}
		return false
	})
	for _, r := range gone {
		for i := r.From; i < r.To; i++ {
			delete(j.made, i)
			t.settle(j, i)
			t.release(j, i)
		}
	}
}

// hearMade takes in what a submitter holds of its job.
func hearMade(t *jobTable, from task.PeerID, m *message.Made) {
	j := t.jobs[m.Job]
	if j == nil || j.state == jobFetching || from != j.submitter || j.flowing == nil {
		return
	}
	for i := range m.Tasks {
		made := &m.Tasks[i]
		if made.Index >= j.total || j.comesTo(made.Index) != ledger.Open || !j.theirs.Contains(made.Index) {
			continue
		}
		if err := j.spec.CheckOutputs(made.Index, made.Outputs); err != nil {
			t.c.decided(task.TaskID{Job: j.id, Index: made.Index}, "refused", from, err.Error())
			continue
		}
		j.made[made.Index] = *made
		t.settle(j, made.Index)
	}
	if len(j.untold) > 0 {
		j.asked, j.credit = true, true
		t.c.touch(j)
	}
}

// outputsOf returns what a task made, for another that reads it, and who has that: of those that made the same
// another for another task, or the submitter.
func (j *job) outputsOf(u, reader uint64) (outputs []task.Output, by task.PeerID, ok bool) {
	if row := j.ledger.Rows[u]; row != nil && !j.own.Contains(u) {
		if agreed := row.Agreed(); len(agreed) > 0 {
			return agreed[0].Outputs, agreed[int(reader%uint64(len(agreed)))].Worker, true
		}
	}
	if made, told := j.made[u]; told && !made.Failed && j.theirs.Contains(u) {
		return made.Outputs, j.submitter, true
	}
	return nil, "", false
}
