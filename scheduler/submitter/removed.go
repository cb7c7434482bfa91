package submitter

import (
	"fmt"
	"maps"
	"slices"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// Tasks that their owner removes end here: the submitter holds an end of its own of each, as of tasks that never run
// because others failed. Coordinators hear of it as of any end, by the signed list of what the submitter holds
// (task.Held). So they need no other message, replicas merge it as before, a new leader finds it in its copy, and
// nobody else can remove a task. What runs of such a task is dropped, as when a result came from elsewhere.

// MaxRemoved is the most tasks that one RemoveTasks ends, because all of their ends are written in one Step.
const MaxRemoved = 10_000

// remove ends tasks of a job that have not ended. Tasks of a job with stages stay, because other tasks read what these
// make.
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
	s.persist(j) // first, so that their ends are known as what they are
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

// Removable returns the tasks of a set that a RemoveTasks would end, or why it would end none.
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
		return 0, "other tasks of a job with stages may read what these make"
	case len(set) > 0 && set[len(set)-1].To > j.total:
		return 0, fmt.Sprintf("the job has %d tasks, from 0 on", j.total)
	case set.Count() > MaxRemoved:
		return 0, fmt.Sprintf("these are %d tasks, and the most at once is %d", set.Count(), MaxRemoved)
	}
	if n = set.Minus(j.have).Count(); n == 0 {
		return 0, "they have all ended"
	}
	return n, ""
}
