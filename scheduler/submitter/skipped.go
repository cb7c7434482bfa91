package submitter

import (
	"fmt"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// skip holds tasks as failed that never run, and those that need these.
func (st *staged) skip(s *Submitter, j *submitted) {
	for st != nil && len(st.dead) > 0 {
		r := st.dead[0]
		st.dead = st.dead[1:]
		for i := r.From; i < r.To; i++ {
			if j.have.Contains(i) {
				if j.checks == nil || st.flow.Verdict(i) == ledger.Failed {
					continue
				}
				doubting{&s.audits}.drop(j, only(i)) // it was made of what a task that failed was said to have made
			}
			if st.flow.Ready(i) != ledger.Never { // what failed did not, after all
				continue
			}
			why := "needs tasks of which more failed than it allows"
			if u, ok := st.flow.Failure(i); ok {
				why = fmt.Sprintf("needs task %d, %s, which failed", u, j.spec.TaskName(u))
			}
			j.forgetFetch(s, i)
			s.hold("", j, &message.TaskSummary{Index: i, Failed: true, Reason: task.ClipMessage(why)})
			s.emit(message.Decided{Task: task.TaskID{Job: j.id, Index: i}, Action: "skipped", Reason: task.ClipMessage(why)})
		}
	}
}

// heldAnew takes in that what this node made of a task is held in place of what it was told.
func (a doubting) heldAnew(j *submitted, i uint64, failed bool) {
	if j.staged == nil {
		return
	}
	j.staged.keeps(j, i, failed)
	a.rereads(j, i)
	j.staged.skip(a.s, j)
}

// forgetFetch forgets a result whose blocks are on their way.
func (j *submitted) forgetFetch(s *Submitter, i uint64) {
	key := ResultKey(j.id, i)
	if s.fetches[key] != nil {
		delete(s.fetches, key)
		j.fetching--
		j.lacking = j.lacking.Minus(only(i))
	}
}
