package submitter

import (
	"bytes"
	"slices"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// Of a job with stages a result is worth what the results are that it was made of. A worker signs which files of other
// tasks its run read: so each result is held against what is held of the tasks before it, as soon as all of that is
// here. One that was made of something else is given back, and nobody is named for it: its leader may have
// given its worker what it likes. Where the end of a task becomes another, since it was found wrong or was given
// back, the results that were made of it are looked at again; those that are made of the same files stay.

// maxCompared is how many results are read at once to see what they were made of.
const maxCompared = 8

// readings hold results against what they were made of.
type readings struct{ *audits }

// mustLook reports whether a result is to be looked at.
func (r readings) mustLook() bool {
	return slices.ContainsFunc(r.jobs, func(j *submitted) bool { return len(j.checks.unmatched) > 0 })
}

// compare has results read of which all is here that they may have been made of.
func (r readings) compare() {
	for _, j := range r.jobs {
		st, c := j.staged, j.checks
		if st == nil {
			continue
		}
		for _, d := range st.turned {
			for i := d.From; i < d.To && len(c.unmatched) > 0; i++ {
				j.marks(i)
			}
		}
		st.turned = nil
		r.giveUp(j)
		for len(c.legible) > 0 && len(c.asked) < maxCompared {
			i := c.legible[0].From
			c.legible = c.legible.Minus(only(i))
			if _, asked := c.asked[i]; asked {
				c.asked[i] = true // the answer is of before; then it is asked anew
				continue
			}
			if c.asked == nil {
				c.asked = map[uint64]bool{}
			}
			c.asked[i] = false
			r.s.emit(message.Compare{Task: task.TaskID{Job: j.id, Index: i}})
		}
	}
}

// giveUp notes that it cannot be told of results of a job that is over before what they read was held.
func (r readings) giveUp(j *submitted) {
	if !j.state.Final || len(j.checks.unmatched) == 0 {
		return
	}
	for _, w := range slices.Clone(j.checks.unmatched) {
		for i := w.From; i < w.To; i++ {
			if j.staged.flow.Ready(i) != ledger.Ready {
				r.cannotTell(j, i, "not all that its task reads is held")
			}
		}
	}
	r.deliver(j)
}

func (r readings) cannotTell(j *submitted, i uint64, why string) {
	r.note(j, checked{Index: i, State: verdictOpen})
	r.s.emit(message.Decided{Task: task.TaskID{Job: j.id, Index: i}, Action: "not checked", Reason: task.ClipMessage(why)})
}

// compared takes in what a task reads, by what is held.
func (r readings) compared(ev *message.Compared) {
	j, i := r.s.jobs[ev.Task.Job], ev.Task.Index
	if j == nil || j.checks == nil || j.staged == nil {
		return
	}
	c := j.checks
	stale := c.asked[i]
	delete(c.asked, i)
	if !c.unmatched.Contains(i) {
		return
	}
	if stale {
		j.marks(i)
		return
	}
	held := &ev.Held
	other := func(x task.Result) bool { return !bytes.Equal(x.Reads, ev.Name) }
	switch {
	case ev.Err != "":
		r.cannotTell(j, i, "what it was made of cannot be told: "+ev.Err)
	case len(held.Results) == 0: // it never ran, since a task failed that did not, after all
		r.misread(j, i, "", "a task before it is held as done now")
	case slices.ContainsFunc(held.Results, other):
		r.misread(j, i, held.Results[0].Worker, "it was made of other files than are held of the tasks before it")
	case held.Refuted != nil:
		r.note(j, checked{Index: i, State: verdictWrong, Late: j.state.Settled})
	case held.Results[0].Worker == r.s.self:
		r.note(j, checked{Index: i, State: verdictRight})
	default:
		r.decide(j, held, j.spec.Verify.Confirm != "", false)
	}
	r.s.finish(j, false)
	r.deliver(j)
	r.s.emit(message.JobChanged{Job: j.id})
}

// misread has a task run again whose result was made of other files than are held: elsewhere, else here.
func (r readings) misread(j *submitted, i uint64, worker task.PeerID, why string) {
	if j.mayGiveBack(r.s.now) && j.checks.back[i] < maxGivenBack {
		doubting{r.audits}.reopen(j, only(i), worker, "task "+j.spec.TaskName(i)+" runs again: "+why)
		return
	}
	if worker == "" {
		r.cannotTell(j, i, why+", and it is too late to run it")
		return
	}
	r.s.emit(message.Decided{Task: task.TaskID{Job: j.id, Index: i}, Action: "to be run again", Peer: worker, Reason: why})
	r.note(j, checked{Index: i, State: verdictDue, Doubted: true, Worker: worker, Failed: j.hasFailed(i)})
}

// readOther deals with a task that ran again here on other files than its worker signed, and reports whether it did:
// that says nothing of the worker.
func (r readings) readOther(ev *message.Audited) bool {
	i, here, at, j := ev.Task.Index, &ev.Here, r.at[ev.Task], r.s.jobs[ev.Task.Job]
	if at == nil || !at.runs || j == nil || j.checks == nil || !j.checks.toRun(i) || len(ev.Held.Results) == 0 ||
		!task.SignsReads(j.spec, i) || bytes.Equal(ev.Held.Results[0].Reads, here.Reads) ||
		here.Outcome == task.HostError || here.Outcome == task.Interrupted && len(here.Reads) == 0 {
		return false
	}
	at.runs = false
	switch {
	case !j.checks.doubted.Contains(i) || j.mayGiveBack(r.s.now) && j.checks.back[i] < maxGivenBack:
		delete(r.at, ev.Task)
		r.audits.noteUnmatched(j, i)
	case here.Outcome == task.Interrupted:
		r.later(at, here.Outcome)
	case !here.Outcome.Reproducible():
		r.settle(j, at.id, verdictOpen, "it does not run to its end here: "+here.Outcome.String())
	default:
		r.remade(j, at, ev)
	}
	return true
}

// remade holds what this node made of a task in place of a result that was made of what is held no more.
func (r readings) remade(j *submitted, at *auditing, ev *message.Audited) {
	const why = "it was made of what was found wrong, or is held no more, of the tasks before it"
	end := message.TaskSummary{Index: ev.Task.Index, Failed: ev.Here.Outcome != task.Completed,
		Results: []task.Result{ev.Here}, Attempts: ev.Held.Attempts,
		Refuted: &message.Refuted{Result: ev.Held.Results[0], Why: why}}
	if end.Failed {
		end.Reason = "run again here: " + ev.Here.Outcome.String()
	}
	if !r.s.save(ResultKey(j.id, end.Index), ev.Task, &end) {
		r.settle(j, at.id, verdictOpen, "what this node made of it cannot be kept")
		return
	}
	r.s.replaced(j, ev.Held.Failed, end.Failed)
	r.s.emit(message.Decided{Task: ev.Task, Action: "made anew", Reason: why})
	doubting{r.audits}.heldAnew(j, end.Index, end.Failed)
	r.settle(j, at.id, verdictWrong, "")
}
