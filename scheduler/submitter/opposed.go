package submitter

import (
	"slices"

	"godwit/scheduler/message"
	"godwit/task"
)

// What others came to is judged with the result that is held, by what came of the task here. Who
// agreed with a wrong result is wrong as its signer is, by its own signed result, and so is who
// disagreed with a right one.

// fold adds to what is held what others signed that agree with it, and returns the rest.
func fold(ev *message.Audited) (opposed []task.Result) {
	held := &ev.Held.Results[0]
	for i := range ev.Others {
		r := &ev.Others[i]
		if held.Difference(r, nil) == "" {
			ev.Held.Results = append(slices.Clip(ev.Held.Results), *r)
		} else {
			opposed = append(opposed, *r)
		}
	}
	ev.Others = nil
	return opposed
}

// right notes that a result is right, and all who came to it. Before anybody is accused who came to
// something else the task is interpreted as well.
func (a *audits) right(j *submitted, at *auditing, ev *message.Audited, here *task.Result) {
	if !at.right {
		for i := range ev.Held.Results {
			a.confirm(ev.Held.Results[i].Worker)
		}
	}
	switch {
	case len(at.opposed) == 0:
	case at.compiled == nil:
		at.compiled, at.right = here, true
		return
	case at.compiled.Difference(here, nil) == "":
		a.judgeOpposed(j, at, ev, here)
	}
	j.checks.sure.noteSure(&ev.Held.Results[0])
	a.settle(j, at.id, verdictRight, "")
}

// confirm adds a task to what is known of a worker.
func (a *audits) confirm(worker task.PeerID) {
	a.credit(worker).Confirm(1, 1, a.s.now)
	a.keep(worker)
}

// judgeOpposed judges those who came to something else than what is held, by what came of the task
// here, compiled and interpreted.
func (a *audits) judgeOpposed(j *submitted, at *auditing, ev *message.Audited, here *task.Result) {
	for i := range at.opposed {
		r := &at.opposed[i]
		why := r.Difference(here, nil)
		if why == "" {
			a.confirm(r.Worker)
			continue
		}
		its := message.Audited{Task: ev.Task, Here: *here,
			Held: message.TaskSummary{Index: ev.Held.Index, Results: []task.Result{*r}}}
		var by []task.PeerID
		if !traceable(r) {
			by = []task.PeerID{r.Worker}
		}
		if engine := a.excusedBy(j, &its, by); engine != "" {
			a.diverged(j, &its, engine, why+excuseOf(engine))
			continue
		}
		if len(by) > 0 && at.right && ev.Held.Refuted == nil {
			ev.Held.Refuted = &message.Refuted{Result: *r, By: r.Worker, Why: task.ClipMessage(why)}
			a.s.save(ResultKey(j.id, ev.Held.Index), ev.Task, &ev.Held)
		}
		a.blame(&its, by, why)
	}
	at.opposed = nil
}
