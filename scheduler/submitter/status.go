package submitter

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// summary is the leader's last word, brought in line with what is held here.
func (j *submitted) summary() message.JobSummary {
	sum := j.state.Summary
	held := j.have.Count()
	sum.Total = j.total
	sum.Done -= min(sum.Done, j.removedHeld()) // a leader counts what it knows no end of as done
	sum.Done, sum.Failed = max(sum.Done, held-j.failed), max(sum.Failed, j.failed)
	sum.Running = min(sum.Running, j.total-min(j.total, sum.Done+sum.Failed))
	sum.Waiting = j.total - min(j.total, sum.Done+sum.Failed+sum.Running)
	switch {
	case j.state.Error != "":
		sum.State = message.JobFailed
	case message.FinalState(sum.State) && (j.disputed.n == 0 || j.state.Final):
	case held == j.total:
		sum.State = j.endState(sum.Done, sum.Failed)
	case j.state.Accepted:
		sum.State = message.JobRunning
	default:
		sum.State = message.JobOffered
	}
	return sum
}

// Jobs returns every job offered to this node, without tasks, by submission
// time, then ID.
func (s *Submitter) Jobs() []message.JobStatus {
	out := make([]message.JobStatus, 0, len(s.jobs))
	for _, id := range slices.Sorted(maps.Keys(s.jobs)) {
		out = append(out, s.status(s.jobs[id]))
	}
	slices.SortStableFunc(out, func(a, b message.JobStatus) int { return a.Submitted.Compare(b.Submitted) })
	return out
}

func (s *Submitter) status(j *submitted) message.JobStatus {
	st := message.NewJobStatus(j.id, j.spec, j.record.Submitter(), j.summary())
	st.Error, st.Held, st.Final = j.state.Error, j.have.Count(), j.state.Final
	st.Reason, st.Checks, st.Taken = s.whyNot(j), s.audits.checkCounts(j), j.reusing.told()
	if c := st.Checks; c != nil && !c.Delivered {
		st.Unchecked = c.Due + c.Unchecked
	}
	st.Stages = j.staged.told()
	st.Added, st.Removed = s.added(j.id), j.removedHeld()
	st.Loans = Loans(s, j.id)
	return st
}

// whyNot says why a job does not go on for now, or "".
func (s *Submitter) whyNot(j *submitted) string {
	switch {
	case j.state.Final && j.checks.left() == 0:
		return ""
	case j.state.Final && s.audits.waitsForCore(j):
		return fmt.Sprintf("%d results are not checked: only this machine can run tasks of a job with stages again, and it "+
			"lends no core now; it runs them when it does", s.audits.waits(j))
	case j.state.Final && s.audits.waits(j) > 0:
		return fmt.Sprintf("%d results are not checked: nobody else can run these tasks again, and this machine has run as "+
			"much of the job as its checks may cost: its owner decides, and `godwit verify` has it run more", s.audits.waits(j))
	case j.state.Final && s.audits.abroad.lendsNothing():
		return fmt.Sprintf("%d results are to be checked and nobody else is left for that: this machine runs the tasks "+
			"itself, one at a time at the lowest priority, unless its owner's rules have all stand still", j.checks.left())
	case j.state.Final:
		return fmt.Sprintf("%d results are to be checked: this machine runs the tasks again when it lends a core",
			j.checks.left())
	case s.unaided.isLate(j):
		return s.unaided.why(j)
	case s.leader == "":
		return "no coordinator is known"
	case j.refusal != "":
		return fmt.Sprintf("%s; trying again in %v", j.refusal, max(0, j.next.Sub(s.now)).Round(time.Second))
	case j.disputed.n > 0:
		return fmt.Sprintf("the coordinator says that the job is over (%s), and %d results are missing; asking again in %v",
			j.state.Summary.State, j.total-j.have.Count(), max(0, j.next.Sub(s.now)).Round(time.Second))
	case j.checks != nil && len(j.checks.away) > 0 && j.have.Count() == j.total:
		return fmt.Sprintf("other members run %d tasks again, to compare with what is held", j.checks.away.Count())
	case j.state.Ending && !j.state.Cancelled:
		return "no more of its tasks begin, as its owner wants; what runs ends"
	case len(j.lacking) > 0:
		return fmt.Sprintf("the output of %d tasks is nowhere to be had; trying again", j.lacking.Count())
	}
	return ""
}

// Job returns a job without its tasks: those that have ended are listed by
// Held, and read with ResultKey, DecodeSummary and TaskSummary.Status.
func (s *Submitter) Job(id task.JobID) (message.JobStatus, bool) {
	j := s.jobs[id]
	if j == nil {
		return message.JobStatus{}, false
	}
	st := s.status(j)
	st.Failures = j.failures
	return st, true
}

// Held returns the tasks of a job whose results are held: in the driver's
// store, or in a Persist that it has not carried out yet. It is a copy.
func (s *Submitter) Held(id task.JobID) ledger.Set {
	if j := s.jobs[id]; j != nil {
		return slices.Clone(j.have)
	}
	return nil
}

// Accepted says whether a leader has acknowledged the job, in so many words or by bringing all
// that is to be had of it: results of short tasks may be here before that word is.
func (s *Submitter) Accepted(id task.JobID) bool {
	j := s.jobs[id]
	return j != nil && (j.state.Accepted || j.state.Final && j.state.Error == "")
}

// Spec returns what the record of a job offered here says; nil if there is none.
// It is read only.
func (s *Submitter) Spec(id task.JobID) *task.Job {
	if j := s.jobs[id]; j != nil {
		return j.spec
	}
	return nil
}

// Record returns the signed record of a job offered here.
func (s *Submitter) Record(id task.JobID) (task.Record, bool) {
	j := s.jobs[id]
	if j == nil {
		return task.Record{}, false
	}
	return j.record, true
}
