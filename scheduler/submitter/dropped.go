package submitter

import (
	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// Results that are held no more, and what that means for those that were made of them.

// drop drops results of a job, and takes from those that were made of them what was known of these.
func (a doubting) drop(j *submitted, back ledger.Set) {
	j.have = j.have.Minus(back)
	for _, r := range back {
		for i := r.From; i < r.To; i++ {
			id := task.TaskID{Job: j.id, Index: i}
			if j.hasFailed(i) {
				j.failed--
			}
			j.checks.drop(i)
			j.checks.unaccept(i)
			if j.checks.others {
				a.s.audits.abroad.drop(id)
			}
			a.s.emit(message.Persist{Key: ResultKey(j.id, i)})
			a.s.emit(message.Persist{Key: checkKey(id)})
			j.staged.drops(i)
		}
	}
	for _, r := range back {
		for i := r.From; i < r.To; i++ {
			a.rereads(j, i)
		}
	}
}

// rereads has the results looked at that were made of a task's, which is another now or not held.
func (a doubting) rereads(j *submitted, i uint64) {
	if j.staged == nil || j.checks == nil {
		return
	}
	for d := range j.spec.Readers(i) {
		for k := d.From; k < d.To; k++ {
			switch c := j.checks; {
			case !j.have.Contains(k):
			case c.unmatched.Contains(k):
				c.matching.changed(k)
				c.legible = c.legible.Minus(only(k))
				j.marks(k)
			default:
				c.unaccept(k) // else its worker's fault would have it run again beside what is found here
				a.noteUnmatched(j, k)
			}
		}
	}
}

// hasFailed reports whether the end that is held of a task is that it failed.
func (j *submitted) hasFailed(i uint64) bool {
	if j.staged != nil {
		return j.staged.flow.Verdict(i) == ledger.Failed
	}
	return j.checks.failed.Contains(i)
}
