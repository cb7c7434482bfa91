package submitter

import (
	"encoding/hex"
	"time"

	"godwit/scheduler/message"
	"godwit/task"
)

// checkCounts tells how far the checks of a job are; nil for a job that wants none.
func (a *audits) checkCounts(j *submitted) *message.Checks {
	c := j.checks
	if c == nil {
		return nil
	}
	out := &message.Checks{Verify: j.spec.Verify.String(), Confirm: j.spec.Verify.Confirm, Due: c.left(),
		Doubted: c.doubted.Count(), Others: c.away.Count(), Agreed: c.agreed(),
		Right: c.right.Count(), Wrong: c.wrong.Count(), Open: c.open.Count(), Late: c.late.Count(),
		Waits:     a.waits(j),
		NoCore:    a.waitsForCore(j),
		Delivered: j.state.Settled, Divergent: c.divergesAt(), Heard: a.heardOf(c)}
	if j.staged != nil {
		out.Accepted, out.Unchecked, out.Final = a.together(j).count()
	} else {
		seen := c.seen()
		for worker, of := range c.by {
			accepted, unchecked := a.standingsOf(worker, of, seen)
			out.Accepted += accepted
			out.Unchecked += unchecked
		}
		out.Final = j.have.Count() - out.Accepted - out.Unchecked - out.Due - out.Open
	}
	out.Promise = Promise(j.spec.Verify, a.s.cfg.Pool.Least, j.total)
	if j.state.Settled {
		key := task.DrawKey(a.s.key, j.spec.Nonce)
		out.Key = hex.EncodeToString(key[:])
	}
	return out
}

// deliver notes that a job is over with all checked that was to be, from when on its results are
// taken for delivered.
func (a *audits) deliver(j *submitted) {
	if j.checks != nil && j.state.Final && !j.state.Settled && j.checks.left() == 0 && !a.topUp(j) {
		j.state.Settled = true
		a.s.persist(j)
	}
}

// Standings tells how the results of tasks of a job stand, in their order, and which of them were run
// again here; "" of one that is not held, and of a job whose results are not checked.
func (s *Submitter) Standings(id task.JobID, tasks []uint64) ([]message.Standing, []bool) {
	out, audited := make([]message.Standing, len(tasks)), make([]bool, len(tasks))
	if j := s.jobs[id]; j != nil && j.checks != nil {
		all := s.audits.together(j)
		for k, i := range tasks {
			out[k] = all.of(i)
			audited[k] = j.checks.right.Contains(i) || j.checks.wrong.Contains(i) || j.checks.open.Contains(i) ||
				j.checks.parts[i].Checked > 0
		}
	}
	return out, audited
}

// Parts tells how much of the results of tasks of a job was run again, where not the whole task was
// or is to be, in their order; zero of any other.
func (s *Submitter) Parts(id task.JobID, tasks []uint64) []message.Parts {
	out := make([]message.Parts, len(tasks))
	if j := s.jobs[id]; j != nil && j.checks != nil {
		for k, i := range tasks {
			if out[k] = j.checks.parts[i]; out[k].Of == 0 {
				out[k].Of = j.checks.drawn[i].of
			}
		}
	}
	return out
}

// settle ends an audit. why is for people, of one that could not be told.
func (a *audits) settle(j *submitted, id task.TaskID, v verdict, why string) {
	at := a.at[id]
	delete(a.at, id)
	c := checked{Index: id.Index, State: v, Late: v == verdictWrong && j.state.Settled, Worker: at.by, Engine: at.engine,
		Spreads: at.spreads && at.engine != ""}
	if at.parts != nil && v == verdictAccepted {
		c = a.acceptedParts(j, at, c)
	}
	a.rest, a.pause = time.Time{}, 0
	if !j.checks.unmatched.Contains(id.Index) { // else what it was made of is another now
		a.note(j, c)
	}
	for _, r := range at.release {
		a.s.emit(r)
	}
	a.s.finish(j, false) // it may have waited for others to be asked
	a.deliver(j)
	if v == verdictOpen {
		a.s.emit(message.Decided{Task: id, Action: "not checked", Reason: task.ClipMessage(why)})
	}
	a.s.emit(message.JobChanged{Job: j.id})
}
