package submitter

import (
	"fmt"
	"time"

	"godwit/scheduler/message"
	"godwit/task"
)

// finish closes the job when nothing is missing: it holds every task, or its own node has
// ended it and nothing of it is to be had any more. nothingMore is the leader's word that it
// brings no more results; alone it ends nothing. It says whether the job is closed, which the
// leader has then been told.
func (s *Submitter) finish(j *submitted, nothingMore bool) bool {
	if j.checks != nil && j.ended(s.now) {
		s.audits.abroad.allHome(j)
	}
	if j.checks != nil && (j.ended(s.now) || j.have.Count() == j.total) { // nobody waits for newcomers
		clear(j.checks.sure.probed)
	}
	whole := j.mine().Count() == j.total && (j.state.Final || !s.audits.abroad.asksSoon(j))
	if j.state.Final || !whole && !(j.ended(s.now) && (nothingMore && j.fetching == 0 || j.givenUp())) {
		return j.state.Final
	}
	for _, r := range j.lacking {
		for i := r.From; i < r.To; i++ {
			delete(s.fetches, ResultKey(j.id, i))
		}
	}
	j.fetching, j.lacking, j.disputed = 0, nil, dispute{}
	j.state.Summary = j.lastSummary(whole)
	j.state.Final = true
	s.persist(j)
	s.dropLoans(j)
	s.audits.deliver(j)
	s.emit(message.JobChanged{Job: j.id, Final: true})
	s.goodbye(j, nothingMore)
	return true
}

// ended says whether this node itself has ended the job: its owner cancelled it, or wanted no more
// of it begun and nothing runs any more, or its deadline has passed by the clock here.
func (j *submitted) ended(now time.Time) bool {
	return j.state.Cancelled || j.state.Ending && j.state.Summary.State == message.JobCancelled ||
		j.spec.Deadline > 0 && !now.Before(j.spec.Submitted.Add(j.spec.Deadline))
}

// givenUp says whether the leader has ended the job early and all that is left of it are
// results that are nowhere to be had: nobody will make them again.
func (j *submitted) givenUp() bool {
	ended := j.state.Summary.State == message.JobCancelled || j.state.Summary.State == message.JobExpired
	return ended && j.fetching > 0 && uint64(j.fetching) == j.lacking.Count()
}

// lastSummary is the leader's last word of a job that is over here, brought in line with why
// it is and, when every result is held, with what they are.
func (j *submitted) lastSummary(whole bool) message.JobSummary {
	sum := j.summary()
	switch {
	case whole:
		sum.Done, sum.Failed = j.have.Count()-j.failed, j.failed
		sum.State, sum.Running, sum.Waiting = j.endState(sum.Done, sum.Failed), 0, 0
	case sum.State == message.JobCancelled, sum.State == message.JobExpired:
	case j.state.Cancelled:
		sum.State = message.JobCancelled
	default:
		sum.State = message.JobExpired
	}
	return sum
}

// endState is the state of the job when every task has ended. Removed tasks are no failures, but where nothing else is
// done the job was cancelled.
func (j *submitted) endState(done, failed uint64) string {
	removed := min(failed, j.removedHeld())
	if removed > 0 && done == 0 && failed == removed {
		return message.JobCancelled
	}
	return message.EndState(done, failed-removed)
}

// A dispute is about a job that the leader says is over while results of it are missing
// here. The zero value is none.
type dispute struct {
	n     int           // how often the leader was, or will be, asked for them
	pause time.Duration // before the next asking
	until time.Time     // when that is
}

// deny goes on with a job that the leader says is over: nobody but this node ends it. The
// leader is asked for what is missing, which has it brought or made again, or the job taken in
// anew; with pauses that double from RetryMin to RetryMax, however often it says so.
func (s *Submitter) deny(j *submitted) {
	d := &j.disputed
	if d.n > 0 && s.now.Before(d.until) {
		s.later(j, d.until.Sub(s.now))
		return
	}
	d.pause = min(max(2*d.pause, s.timing.RetryMin), s.timing.RetryMax)
	d.n, d.until = d.n+1, s.now.Add(d.pause)
	s.later(j, d.pause)
	s.emit(message.JobChanged{Job: j.id})
	s.emit(message.Decided{Task: task.TaskID{Job: j.id}, Action: "disputed", Peer: s.leader,
		Reason: fmt.Sprintf("the leader says that the job is over, and %d results are missing: it is asked for them in %v",
			j.total-j.have.Count(), d.pause)})
}

// replaced counts a task anew whose end, which had failed or not, is another now.
func (s *Submitter) replaced(j *submitted, had, has bool) {
	switch {
	case has && !had:
		j.failed++
	case !has && had:
		j.failed--
	}
	if j.state.Final {
		j.state.Summary = j.lastSummary(j.have.Count() == j.total)
		s.persist(j)
	}
}
