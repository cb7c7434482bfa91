package submitter

import (
	"fmt"
	"maps"
	"slices"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// The submitter creates the end of a removed task itself, as for a task that is skipped because others failed.
// Coordinators learn of it from the signed list of held tasks (task.Held), as of every end. So removal needs no message
// of its own, replicas merge it as before, a new leader has it in its copy, and only the submitter can remove a task.
// Running attempts are dropped, as if a result had come from elsewhere.

// MaxRemoved is the maximum number of tasks of a RemoveTasks event. All of their ends are written in one Step.
const MaxRemoved = 10_000

// remove ends a job's unfinished tasks. A job with stages keeps its tasks, because other tasks read their outputs.
func (s *Submitter) remove(ev message.RemoveTasks) {
	j := s.jobs[ev.Job]
	if j == nil || j.state.Final || j.state.Error != "" || j.staged != nil {
		return
	}
	set, err := ledger.MakeSet(ev.Tasks)
	if err != nil || set.Count() > MaxRemoved {
		return
	}
	open := ledger.Set{{From: 0, To: j.total}}.Minus(j.have)
	open = open.Minus(open.Minus(set)) // what is in both
	if len(open) == 0 {
		return
	}
	all := slices.Clone(j.removed)
	all.Union(open)
	j.removed, j.state.Removed = all, all
	s.persist(j) // before the ends, so that a restart recognizes them
	for _, r := range open {
		for i := r.From; i < r.To; i++ {
			j.forgetFetch(s, i)
			s.hold("", j, &message.TaskSummary{Index: i, Failed: true, Reason: message.RemovedReason})
		}
	}
	s.emit(message.Decided{Task: task.TaskID{Job: j.id, Index: open[0].From}, Action: "removed",
		Reason: fmt.Sprintf("the owner removed %d tasks, this one first", open.Count())})
	s.emit(message.JobChanged{Job: j.id})
	if s.finish(j, false) || j.reusing.waits {
		return
	}
	gotSoon(s, j)
	if j.lending == nil {
		return
	}
	for _, peer := range slices.Sorted(maps.Keys(j.lending.loans)) {
		if l := j.lending.loans[peer]; !l.told {
			s.tellBorrower(j, peer, l)
		}
	}
}

// removedHeld returns the number of removed tasks whose end is held.
func (j *submitted) removedHeld() uint64 {
	if len(j.removed) == 0 {
		return 0
	}
	return j.removed.Count() - j.removed.Minus(j.have).Count()
}

// Removed returns the tasks that the owner removed from a job and whose ends are held.
func Removed(s *Submitter, id task.JobID) ledger.Set {
	j := s.jobs[id]
	if j == nil {
		return nil
	}
	return j.removed.Minus(j.removed.Minus(j.have))
}

// Removable returns the number of tasks that RemoveTasks would end, or the reason why it would end none.
func Removable(s *Submitter, id task.JobID, tasks []message.Range) (n uint64, why string) {
	j := s.jobs[id]
	set, err := ledger.MakeSet(tasks)
	switch {
	case j == nil:
		return 0, "the job is not known"
	case err != nil:
		return 0, err.Error()
	case j.state.Final || j.state.Error != "":
		return 0, "the job is over"
	case j.staged != nil:
		return 0, "in a job with stages, other tasks may need these"
	case len(set) > 0 && set[len(set)-1].To > j.total:
		return 0, fmt.Sprintf("the job has %d tasks, from 0 on", j.total)
	case set.Count() > MaxRemoved:
		return 0, fmt.Sprintf("%d tasks are too many at once, the maximum is %d", set.Count(), MaxRemoved)
	}
	if n = set.Minus(j.have).Count(); n == 0 {
		return 0, "they have all ended"
	}
	return n, ""
}
