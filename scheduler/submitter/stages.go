package submitter

import (
	"fmt"
	"slices"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// Of a job with stages the submitter says of a result that it holds it only when all that comes of it is held,
// too: until then coordinators keep the result's row, from which leases of other tasks are made. What it
// holds meanwhile is said beside, so that nobody brings it again and no coordinator keeps its outputs.
//
// It is the submitter, too, who ends tasks that cannot run since others failed: one place says what
// never runs, and coordinators hear it as they hear of every end.

// staged is what a submitter keeps of a job with stages.
type staged struct {
	flow *ledger.Flow
	over ledger.Set    // held, and so is all that comes of it
	dead []task.Reader // that never run, and are not held as failed yet
}

func newStaged(spec *task.Job) *staged {
	if len(spec.Stages) == 0 {
		return nil
	}
	return &staged{flow: ledger.NewFlow(spec)}
}

// keeps takes in that the end of a task is held.
func (st *staged) keeps(j *submitted, i uint64, failed bool) {
	if st == nil {
		return
	}
	v := ledger.Done
	if failed {
		v = ledger.Failed
	}
	for _, r := range st.flow.Set(i, v) {
		if st.flow.Of(r) == ledger.Never {
			st.dead = append(st.dead, r)
		}
	}
	st.settle(j, i)
}

// settle adds a task, and those that it read, to over if they are.
func (st *staged) settle(j *submitted, i uint64) {
	for todo := []uint64{i}; len(todo) > 0; {
		i, todo = todo[len(todo)-1], todo[:len(todo)-1]
		if !j.have.Contains(i) || st.over.Contains(i) || !st.readersOver(j.spec, i) {
			continue
		}
		st.over.Add(i)
		stage, _ := j.spec.StageOf(i)
		from, to := j.spec.StageRange(stage)
		for n, members := range j.spec.Needed(i) {
			if n.Kind == task.NeedAfter && st.over.NextMissing(from) < to {
				continue
			}
			for u := range members.All() {
				todo = append(todo, u)
			}
		}
	}
}

func (st *staged) readersOver(spec *task.Job, i uint64) bool {
	for r := range spec.Readers(i) {
		if st.over.NextMissing(r.From) < r.To {
			return false
		}
	}
	return true
}

// skip holds tasks as failed that never run, and those that need these.
func (st *staged) skip(s *Submitter, j *submitted) {
	for st != nil && len(st.dead) > 0 {
		r := st.dead[0]
		st.dead = st.dead[1:]
		for i := r.From; i < r.To; i++ {
			if j.have.Contains(i) {
				continue
			}
			why := "needs tasks of which more failed than it allows"
			if u, ok := st.flow.Failure(i); ok {
				why = fmt.Sprintf("needs task %d, %s, which failed", u, j.spec.TaskName(u))
			}
			j.forgetFetch(s, i)
			s.hold(j, &message.TaskSummary{Index: i, Failed: true, Reason: task.ClipMessage(why)})
			s.emit(message.Decided{Task: task.TaskID{Job: j.id, Index: i}, Action: "skipped", Reason: task.ClipMessage(why)})
		}
	}
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

// waived is what coordinators hear that is held of a job, with all that comes of it; taken is what is held
// beside.
func (j *submitted) waived() ledger.Set {
	if j.staged == nil {
		return j.mine()
	}
	return j.staged.over
}

func (j *submitted) taken() []message.Range {
	if j.staged == nil {
		return nil
	}
	return slices.Clone(j.have.Minus(j.staged.over))
}
