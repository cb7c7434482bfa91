package submitter

import (
	"fmt"
	"time"

	"godwit/scheduler/message"
	"godwit/task"
)

// A stranger decides how many wrong results a job gets, so the checks of a job have a limit on this machine: a fifth of
// the job's work, and at least leastOwnRuns tasks. Beyond it other members run tasks again. Tasks that nobody else can run
// wait until the owner allows more.

// A budget is what the checks of a job have cost this machine. The zero value has cost nothing.
type budget struct {
	spent float64       // whole tasks, each as long as the mean of those measured here
	wall  time.Duration // sum of the measured runs of whole tasks, compiled
	runs  int           // number of these runs
}

// shortRun is the longest interpreted run that costs no more than a compiled one. The program is interpreted before its
// worker is accused. At the usual cost, one wrong result of a short task would use up all checks of a small job.
const shortRun = 5 * time.Second

// mean is the measured duration of a task on this machine; 0 if none was measured.
func (b *budget) mean() time.Duration {
	if b.runs == 0 {
		return 0
	}
	return b.wall / time.Duration(b.runs)
}

// spend adds what a run of a task took, or of some of its parts, of so many.
func (b *budget) spend(ev *message.Audited, parts int) {
	part := 1.0
	if p := ev.Part; p != nil {
		part = float64(p.Last-p.First+1) / float64(max(1, parts))
	}
	switch whole := ev.Part == nil && ev.StopAt == 0 && !ev.Interpreted; {
	case ev.Unserved != "":
	case whole && ev.Here.Outcome == task.Completed:
		b.wall += ev.Here.Wall
		b.runs++
		b.spent++
	case ev.Interpreted && ev.Here.Wall > 0 && ev.Here.Wall <= shortRun:
		b.spent++
	case ev.Here.Wall > 0 && b.mean() > 0: // measured: interpreted, a task takes 5 to 20 times as long
		b.spent += float64(ev.Here.Wall) / float64(b.mean())
	case ev.Here.Outcome != task.Interrupted || ev.StopAt > 0 || ev.Part != nil:
		b.spent += part
	}
}

// restoreBudget takes in what earlier checks cost, as far as it was stored: one run for each result.
func (c *checks) restoreBudget() {
	c.budget.spent = float64(c.right.Count() + c.wrong.Count() + c.open.Count())
	for _, p := range c.parts {
		c.budget.spent += float64(p.Checked) / float64(max(1, p.Of))
	}
}

// allowed is the number of a job's tasks that this machine may run again.
func (a *audits) allowed(j *submitted) float64 {
	return max(a.s.cfg.OwnRuns*float64(j.total), leastOwnRuns) + float64(j.state.Granted)
}

// leastOwnRuns is the number of tasks of any job that this machine may run again: twice the largest least sample, since
// each source's first results are checked besides those drawn. A small job with `verify: full` needs no decision then.
const leastOwnRuns = 20

// leftHere is the number of tasks that this machine may still run again of a job.
func (a *audits) leftHere(j *submitted) uint64 {
	return uint64(max(0, a.allowed(j)-j.checks.budget.spent))
}

// exhausted reports whether this machine has run again as much of a job as it may.
func (a *audits) exhausted(j *submitted) bool { return j.checks.budget.spent >= a.allowed(j) }

// waits is the number of results of a job that only this machine can check, beyond its limit or while it lends no core:
// their owner decides.
func (a *audits) waits(j *submitted) uint64 {
	c := j.checks
	switch {
	case a.waitsForCore(j):
		return c.due.Count() // one of them may have begun, but stands still if the owner's rules say so
	case !a.exhausted(j):
		return 0
	}
	n := c.stays.Count() + c.unpolled.Count()
	if j.staged != nil {
		n = c.due.Count()
	}
	for id := range a.at {
		if id.Job == j.id && n > 0 {
			n--
		}
	}
	return min(n, c.due.Count())
}

// waitsForCore reports whether a job's checks wait until this machine lends a core. Nobody else can run tasks of a job with
// stages again.
func (a *audits) waitsForCore(j *submitted) bool { return j.staged != nil && a.abroad.lendsNothing() }

// allowMore has this machine run more tasks of a job again: its owner wants that.
func (s *Submitter) allowMore(ev message.CheckMore) {
	j := s.jobs[ev.Job]
	if j == nil || j.checks == nil {
		return
	}
	more := min(ev.Tasks, 2*j.total) // each compiled, and interpreted if it is wrong
	j.state.Granted = min(j.state.Granted+more, maxGranted)
	s.persist(j)
	s.emit(message.Decided{Task: task.TaskID{Job: j.id}, Action: "checks more",
		Reason: fmt.Sprintf("the owner allows %d tasks more to run again on this machine", more)})
	s.emit(message.JobChanged{Job: j.id})
}

// maxGranted bounds the sum of what an owner allows.
const maxGranted = 1 << 40

// asks notes that others are asked to run a task now. How long they may take follows from what the task takes, and
// that is not for the worker of its first run alone to say.
func (a *abroad) asks(j *submitted, p *poll) {
	p.asked = a.s.now
	p.wall = min(p.wall, max(0, a.s.now.Sub(j.spec.Submitted.Time)))
	if mean := j.checks.budget.mean(); mean > 0 {
		p.wall = min(p.wall, answerRuns*mean)
	}
}

// measured is the measured duration of a job's tasks on this machine; 0 if it has run none again.
func (j *submitted) measured() time.Duration {
	if j.checks == nil {
		return 0
	}
	return j.checks.budget.mean()
}

// takesHere is about what a task of a job takes: as measured here, else as its workers claim, but no longer than the
// job exists.
func (j *submitted) takesHere(now time.Time) time.Duration {
	if mean := j.measured(); mean > 0 {
		return mean
	}
	return min(j.checks.takes, max(0, now.Sub(j.spec.Submitted.Time)))
}
