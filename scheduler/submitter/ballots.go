package submitter

import (
	"slices"

	"godwit/scheduler/message"
	"godwit/task"
)

// What others say of a task that they ran again: that it failed is a result as any other, if it
// does not depend on the machine.

// poll has others run what is due, if they are asked: neither those who ran it, nor, of a task that
// failed, who did before.
func (c *checked) poll(t *message.TaskSummary, stays bool) {
	r := &t.Results[0]
	p := newPoll(r)
	for i := range t.Results[1:] {
		p.makers = append(p.makers, makersOf(&t.Results[i+1])...)
	}
	slices.Sort(p.makers)
	p.makers = slices.Compact(p.makers)
	c.Worker, c.Failed, c.Engine = r.Worker, t.Failed, engineOf(r)
	if r.Outcome.Reproducible() { // else nobody can say that it is not so
		c.Poll = p.kept(c.Engine, stays)
	}
}

// pollOf is poll, but of tasks that others can run again: not those of a job with stages, nor those whose results were
// taken from another job. Others would run these under another name, with other random bytes.
func (c *checked) pollOf(j *submitted, t *message.TaskSummary, stays bool) {
	if j.staged == nil && t.From == nil {
		c.poll(t, stays)
		return
	}
	c.Worker, c.Failed = t.Results[0].Worker, t.Failed
}

// engineOf is what a worker says that it ran a task with; "" where it does not.
func engineOf(r *task.Result) string {
	if r.Trail == nil {
		return ""
	}
	return r.Trail.Engine
}

// cast takes in what others came to, each once. Only from a member that was asked to bring it an answer that is none
// counts as a failed attempt.
func (a *abroad) cast(j *submitted, t *message.TaskSummary, asked bool) {
	id := task.TaskID{Job: j.id, Index: t.Index}
	p := j.checks.polls[t.Index]
	came, tells := false, len(t.Results) > 0
	for _, r := range t.Results {
		switch {
		case !r.Outcome.Reproducible():
			tells = false
		case p.had(&r), p.ran() >= mostOpposed, !a.mayAnswer(j, p, r.Worker):
		case !a.s.save(otherKey(id, p.ran()), id, &r):
			a.home(j, t.Index, true)
			return
		default:
			j.checks.others = true
			p.add(&r)
			came = true
		}
	}
	switch {
	case came:
		a.count(j, t.Index)
	case !asked:
	case !tells:
		a.s.emit(message.Decided{Task: id, Action: "stays here", Reason: "it failed elsewhere: " + t.Reason})
		a.home(j, t.Index, true)
	default: // the same workers' word is none
		a.inVain(j, t.Index)
	}
}

// readPolls has results read that others are to run again and of which is not known who made them:
// they were accepted once, and doubted after that.
func (a *abroad) readPolls(j *submitted) {
	c := j.checks
	if j.staged != nil || c.due.Count() <= uint64(len(c.polls))+c.unpolled.Count() {
		return
	}
	wait := c.due.Minus(c.away).Minus(c.stays)
	if a.beyond(j, wait.Count()) == 0 {
		return
	}
	for _, r := range wait {
		for i := r.From; i < r.To && len(a.reading) < maxExamined; i++ {
			of := task.TaskID{Job: j.id, Index: i}
			if c.polls[i] == nil && !a.reading[of] && a.at[of] == nil && !c.unpolled.Contains(i) {
				a.reading[of] = true
				a.s.emit(message.Examine{Task: of, Key: j.record.Key})
			}
		}
	}
}

// readPoll takes in a result that was read for that. One that cannot be read stays here.
func (a *abroad) readPoll(j *submitted, ev *message.Examined) {
	c, i := j.checks, ev.Task.Index
	if !c.due.Contains(i) || c.polls[i] != nil || a.at[ev.Task] != nil {
		return
	}
	if len(ev.Held.Results) == 0 || ev.Held.Results[0].Worker == a.s.self || ev.Held.From != nil {
		c.unpolled.Add(i)
		return
	}
	to := checked{Index: i, State: verdictDue, Doubted: c.doubted.Contains(i)}
	to.draws(c.drawn[i])
	to.poll(&ev.Held, false)
	if a.note(j, to); to.Poll == nil {
		c.unpolled.Add(i)
	}
}
