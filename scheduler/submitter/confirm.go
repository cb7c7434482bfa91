package submitter

import (
	"slices"

	"godwit/scheduler/message"
	"godwit/task"
)

// maxExamined is how many results are read at once to see whether they meet the conditions of
// their jobs. More would only wait for the disk.
const maxExamined = 8

// unread reports whether results are to be examined.
func (a *audits) unread() bool {
	return slices.ContainsFunc(a.jobs, func(j *submitted) bool { return len(j.checks.unread) > 0 })
}

// examine has results read that are to be run again if they meet the conditions of their jobs.
func (a *audits) examine() {
	if !a.unread() {
		return
	}
	for _, j := range a.jobs {
		for _, r := range j.checks.unread {
			for i := r.From; i < r.To; i++ {
				if len(a.reading) >= maxExamined {
					return
				}
				of := task.TaskID{Job: j.id, Index: i}
				if !a.reading[of] {
					a.reading[of] = true
					a.s.emit(message.Examine{Task: of, Key: j.record.Key, Condition: j.spec.Verify.Confirm})
				}
			}
		}
	}
}

// examined takes in whether a result meets the condition of its job. One that cannot be told of is
// run again: so is one that its owner would want to be right.
func (a *audits) examined(ev *message.Examined) {
	delete(a.reading, ev.Task)
	j := a.s.jobs[ev.Task.Job]
	if j == nil || j.checks == nil {
		return
	}
	if !j.checks.unread.Contains(ev.Task.Index) {
		a.abroad.readPoll(j, ev)
		return
	}
	if ev.Err != "" {
		a.s.emit(message.Decided{Task: ev.Task, Action: "to be run again",
			Reason: task.ClipMessage("whether its result matters cannot be told: " + ev.Err)})
	}
	if len(ev.Held.Results) == 0 {
		a.note(j, checked{Index: ev.Task.Index, State: verdictDue})
	} else {
		a.decide(j, &ev.Held, false, ev.Meets || ev.Err != "")
	}
	a.deliver(j)
	a.s.emit(message.JobChanged{Job: j.id})
}
