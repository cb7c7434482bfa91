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

// foundRight notes that a result is right, and all who came to it. Before anybody is accused who came to
// something else the task is interpreted as well.
func (a *audits) foundRight(j *submitted, at *auditing, ev *message.Audited, here *task.Result) {
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
	a.heard.noteShown(j, &ev.Held.Results[0])
	a.settle(j, at.id, verdictRight, "")
}
