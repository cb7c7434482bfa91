package sim

import (
	"fmt"
	"time"

	"godwit/task"
	"godwit/trace"
)

// check looks at a workload of a run that takes span.
func (w *Workload) check(p *problems, span time.Duration) {
	if len(w.Classes) == 0 && w.Log == nil {
		p.add("workload: it has neither classes nor a log, so that nothing would arrive: give one of them")
	}
	if len(w.Classes) > maxClasses {
		p.add("workload: it has %d classes: at most %d can be run", len(w.Classes), maxClasses)
		return
	}
	total := 0.0
	named := map[string]int{}
	for i := range w.Classes {
		c := &w.Classes[i]
		at := fmt.Sprintf("workload: class %d", i)
		if c.Name != "" {
			at += fmt.Sprintf(" (%s)", c.Name)
			if k, taken := named[c.Name]; taken {
				p.add("%s has the name of class %d: name it otherwise, as its random numbers come from the name", at, k)
			}
			named[c.Name] = i
		}
		c.check(p, at)
		total += c.expected(span)
	}
	if w.Log == nil {
		if w.LogFrom != 0 {
			p.add("workload: a log's time is given without a log: give the log, or leave it out")
		}
	} else {
		if !isTime(w.LogFrom) {
			p.add("workload: the log's time at the start is %v: write seconds, 0 or more", w.LogFrom)
		}
		total += checkLog(p, w.Log)
	}
	if total > maxTasks {
		p.add("workload: about %.3g tasks would arrive: at most %d can be run; lengthen an interval or shorten the run",
			total, maxTasks)
	}
}

func (c *Class) check(p *problems, at string) {
	p.length(at+": interval", c.Interval)
	p.length(at+": from", c.From)
	p.length(at+": to", c.To)
	p.length(at+": work", c.Work)
	p.amount(at+": memory", c.Memory)
	p.amount(at+": state", c.State)
	if c.Work == 0 {
		p.add("%s has no work: say how long a task takes on the reference core", at)
	}
	if c.Tasks < 0 || c.Tasks > maxTasks {
		p.add("%s: tasks is %d: a job has 1 to %d (0 is 1)", at, c.Tasks, maxTasks)
	}
	if c.Slots < 0 || c.Slots > task.MaxSlots {
		p.add("%s: slots is %d: write 1 to %d (0 is no limit)", at, c.Slots, task.MaxSlots)
	}
	if c.Weight < 0 || c.Weight > task.MaxWeight {
		p.add("%s: weight is %d: write 1 to %d (0 is 1)", at, c.Weight, task.MaxWeight)
	}
	if c.To != 0 && c.To <= c.From {
		p.add("%s ends at %v, which is not after it begins at %v: to must be later (0 is the end)", at, c.To, c.From)
	}
	if _, err := c.WorkLaw.Draw(); err != nil {
		p.add("%s: work: %v", at, err)
	}
	c.checkArrival(p, at)
}

// checkArrival looks at what goes with the kind of arrival.
func (c *Class) checkArrival(p *problems, at string) {
	switch c.Arrival {
	case Saturated:
		if c.Interval != 0 {
			p.add("%s is saturated, so that a job always waits, and has an interval of %v: leave that out, or say every or "+
				"poisson", at, c.Interval)
		}
	case Every, Poisson, Renewal:
		if c.Interval == 0 {
			p.add("%s has no interval between its jobs: give one, or say saturated", at)
		}
	case AtTimes:
		if len(c.Times) == 0 {
			p.add("%s comes at times and has none: give at least one", at)
		}
		c.checkTimes(p, at)
	default:
		p.add("%s: arrival %d is unknown: it is Saturated, Every, Poisson AtTimes or Renewal", at, c.Arrival)
	}
	if _, err := c.Gaps.Draw(); err != nil {
		p.add("%s: times between jobs: %v", at, err)
	}
	if c.Arrival != Renewal && c.Gaps != "" {
		p.add("%s has a law of times between jobs that does not go with its arrival: leave it out, or say renewal", at)
	}
	if c.Arrival != AtTimes && len(c.Times) > 0 {
		p.add("%s has times that do not go with its arrival: leave them out, or say at times", at)
	}
}

// checkTimes names the first time that is wrong.
func (c *Class) checkTimes(p *problems, at string) {
	if c.From != 0 || c.To != 0 {
		p.add("%s comes at times, with which from and to do not go: leave them out", at)
	}
	for k, t := range c.Times {
		switch {
		case t < 0 || t > longest:
			p.add("%s: time %d is %v: write 0 to %v after the start", at, k, t, longest)
			return
		case k > 0 && t < c.Times[k-1]:
			p.add("%s: time %d is %v, before the one that precedes it (%v): sort them", at, k, t, c.Times[k-1])
			return
		}
	}
}

// expected is about how many tasks of a class arrive in span; of a saturated
// class it is not known and 0.
func (c *Class) expected(span time.Duration) float64 {
	jobs := float64(len(c.Times))
	if c.Arrival == Every || c.Arrival == Poisson || c.Arrival == Renewal {
		if c.Interval <= 0 {
			return 0
		}
		to := span
		if c.To > 0 {
			to = min(to, c.To)
		}
		jobs = float64(max(0, to-c.From))/float64(c.Interval) + 1
	}
	return jobs * float64(max(1, c.Tasks))
}

// checkLog names the first job that is wrong, and returns how many tasks there
// are.
func checkLog(p *problems, l *trace.Workload) (tasks float64) {
	if len(l.Jobs) == 0 {
		p.add("workload: log %s has no jobs: give one that has", l.Name)
	}
	for i := range l.Jobs {
		j := &l.Jobs[i]
		switch {
		case !isTime(j.Submit):
			p.add("workload: log %s: job %d is submitted at %v: that is 0 or more seconds", l.Name, j.Number, j.Submit)
			return 0
		case i > 0 && j.Submit < l.Jobs[i-1].Submit:
			p.add("workload: log %s: job %d is submitted before the one that precedes it: sort the log by submission", l.Name,
				j.Number)
			return 0
		case !ran(j):
			continue
		case !(nanoseconds(j.RunTime) < longest):
			p.add("workload: log %s: job %d runs for %v s: at most %v can be run", l.Name, j.Number, j.RunTime, longest)
			return 0
		}
		tasks += float64(processors(j))
	}
	return tasks
}
