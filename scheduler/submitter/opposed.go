package submitter

import (
	"slices"

	"godwit/scheduler/message"
	"godwit/task"
)

// What others came to is judged with the result that is held, by what came of the task here. Who
// agreed with a wrong result is wrong as its signer is, by its own signed result, and so is who
// disagreed with a right one.

// fold leaves, of what is held, those results alone that say the same as the first, with what others
// signed that agrees with it, and returns the rest: also of the runs by which a task failed one may
// be right and another not. What depends on the machine says nothing of its worker.
func fold(ev *message.Audited) (opposed []task.Result) {
	all := slices.Concat(ev.Held.Results, ev.Others)
	ev.Held.Results, ev.Others = all[:1:1], nil
	held := &all[0]
	for _, r := range all[1:] {
		switch {
		case held.Difference(&r, nil) == "":
			ev.Held.Results = append(ev.Held.Results, r)
		case r.Outcome.Reproducible():
			opposed = append(opposed, r)
		}
	}
	return opposed
}

// foundRight notes that a result is right, and all who came to it. Before anybody is accused who came to
// something else the task is interpreted as well, but for those who were proven wrong before: see mayTwice.
func (a *audits) foundRight(j *submitted, at *auditing, ev *message.Audited, here *task.Result) {
	if !at.right {
		for i := range ev.Held.Results {
			a.confirm(ev.Held.Results[i].Worker)
		}
	}
	switch {
	case len(at.opposed) == 0:
	case at.compiled == nil && a.mayAll(j, at.opposed, here):
		a.judgeOpposed(j, at, ev, here)
	case at.compiled == nil:
		at.compiled, at.right = here, true
		return
	case at.compiled.Difference(here, nil) == "":
		j.checks.alike++
		a.judgeOpposed(j, at, ev, here)
	}
	if j.staged == nil && ev.Held.From == nil { // else others cannot run it alone, or under its name
		j.checks.sure.noteSure(&ev.Held.Results[0])
		a.heard.noteShown(j, &ev.Held.Results[0])
	}
	a.settle(j, at.id, verdictRight, "")
}

// mayAll reports whether of all who came to something else than what is held, and than this node, each was
// proven wrong before.
func (a *audits) mayAll(j *submitted, opposed []task.Result, here *task.Result) bool {
	return !slices.ContainsFunc(opposed, func(r task.Result) bool { return !a.mayTwice(j, &r, here) })
}
