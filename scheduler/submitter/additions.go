package submitter

import (
	"cmp"
	"slices"

	"godwit/scheduler/message"
	"godwit/task"
)

// link lists a job among the additions to another one, if it is an addition.
func (s *Submitter) link(j *submitted) {
	to := j.spec.Adds
	if to == "" {
		return
	}
	at, _ := slices.BinarySearchFunc(s.additions[to], j, func(id task.JobID, j *submitted) int {
		other := s.jobs[id]
		return cmp.Or(other.spec.Submitted.Compare(j.spec.Submitted.Time), cmp.Compare(id, j.id))
	})
	s.additions[to] = slices.Insert(s.additions[to], at, j.id)
}

// unlink removes a forgotten job from the additions. Additions to the job itself stay listed under its ID.
func (s *Submitter) unlink(j *submitted) {
	to := j.spec.Adds
	left := slices.DeleteFunc(s.additions[to], func(id task.JobID) bool { return id == j.id })
	if s.additions[to] = left; len(left) == 0 {
		delete(s.additions, to)
	}
}

// added returns the additions to a job, the oldest first.
func (s *Submitter) added(id task.JobID) (out []message.Addition) {
	for _, a := range s.additions[id] {
		j := s.jobs[a]
		sum := j.summary()
		out = append(out, message.Addition{Job: a, State: sum.State, Tasks: sum.Total, Final: j.state.Final})
	}
	return out
}
