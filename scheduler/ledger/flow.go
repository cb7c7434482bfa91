package ledger

import (
	"godwit/task"
)

// A Flow counts, of a job with stages, what the tasks that others read have come to. So it is known of any
// task whether all that it reads is there, without a list of who waits for what. It is not safe
// for concurrent use.
type Flow struct {
	spec   *task.Job
	done   Set
	failed Set
	stages []counted            // by stage
	groups map[grouping]counted // of needs by groups; those with none that ended are not in it
}

// counted are ends of tasks.
type counted struct{ done, failed uint64 }

// A grouping names a need of a task by its index.
type grouping struct {
	reader uint64
	need   int
}

// NewFlow returns the flow of a job that has stages, of which no task has ended.
func NewFlow(spec *task.Job) *Flow {
	return &Flow{spec: spec, stages: make([]counted, len(spec.Stages)), groups: map[grouping]counted{}}
}

// A Readiness says whether a task may run.
type Readiness uint8

// The values of a Readiness.
const (
	Ready Readiness = iota // all that it reads is there
	Waits                  // some of that has not ended
	Never                  // some of that failed, and more than the job allows
)

// Set takes in what a task has come to, and returns those that need it for which that changes what
// they wait for, as they are now: see Flow.Of.
func (f *Flow) Set(i uint64, v Verdict) []task.Reader {
	was := f.verdict(i)
	if was == v {
		return nil
	}
	var readers []task.Reader
	var before []Readiness
	for r := range f.spec.Readers(i) {
		readers, before = append(readers, r), append(before, f.Of(r))
	}
	f.count(i, was, -1, readers)
	f.count(i, v, 1, readers)
	n := 0
	for k, r := range readers {
		if f.Of(r) != before[k] {
			readers[n] = r
			n++
		}
	}
	return readers[:n]
}

// Stage returns how many tasks of a stage are done, and how many failed.
func (f *Flow) Stage(k int) (done, failed uint64) { return f.stages[k].done, f.stages[k].failed }

// Verdict returns what a task has come to, as Set was last told.
func (f *Flow) Verdict(i uint64) Verdict { return f.verdict(i) }

func (f *Flow) verdict(i uint64) Verdict {
	switch {
	case f.done.Contains(i):
		return Done
	case f.failed.Contains(i):
		return Failed
	}
	return Open
}

// count adds a task to those that came to v, or with by of -1 takes it off.
func (f *Flow) count(i uint64, v Verdict, by int, readers []task.Reader) {
	if v == Open {
		return
	}
	stage, _ := f.spec.StageOf(i)
	set, of := &f.done, func(c *counted) *uint64 { return &c.done }
	if v == Failed {
		set, of = &f.failed, func(c *counted) *uint64 { return &c.failed }
	}
	if by > 0 {
		set.Add(i)
	} else {
		*set = set.Minus(Set{{From: i, To: i + 1}})
	}
	*of(&f.stages[stage]) += uint64(by) // of -1 it is taken off
	for _, r := range readers {
		if f.spec.Stages[r.Stage].Needs[r.Need].Kind != task.NeedBy {
			continue
		}
		name := grouping{r.From, r.Need}
		c := f.groups[name]
		if *of(&c) += uint64(by); c == (counted{}) {
			delete(f.groups, name)
		} else {
			f.groups[name] = c
		}
	}
}

// Of says how a need stands of the tasks that a reader is.
func (f *Flow) Of(r task.Reader) Readiness {
	s := &f.spec.Stages[r.Stage]
	n := &s.Needs[r.Need]
	var c counted
	total := uint64(1)
	switch n.Kind {
	case task.NeedAfter:
		from, to := f.spec.StageRange(int(n.Stage))
		c, total = f.stages[n.Stage], to-from
	case task.NeedBy:
		c, total = f.groups[grouping{r.From, r.Need}], task.Needing(f.spec, r)
	default:
		from, _ := f.spec.StageRange(r.Stage)
		of, _ := f.spec.StageRange(int(n.Stage))
		switch f.verdict(of + r.From - from) {
		case Done:
			c.done = 1
		case Failed:
			c.failed = 1
		}
	}
	switch {
	case c.failed > s.MayFail(n, total):
		return Never
	case c.done+c.failed < total:
		return Waits
	}
	return Ready
}

// Ready says whether a task may run. Of a task with several needs that cannot be it is Never.
func (f *Flow) Ready(i uint64) Readiness {
	stage, _ := f.spec.StageOf(i)
	all := Ready
	for k := range f.spec.Stages[stage].Needs {
		switch f.Of(task.Reader{Stage: stage, Need: k, From: i, To: i + 1}) {
		case Never:
			return Never
		case Waits:
			all = Waits
		}
	}
	return all
}

// Failure returns a task that failed for which another cannot run; not ok if there is none.
func (f *Flow) Failure(i uint64) (failed uint64, ok bool) { return f.first(i, Failed) }

// Missing returns how many tasks that a task reads have not ended, and the first of them.
func (f *Flow) Missing(i uint64) (n, first uint64) {
	k := 0
	for need, m := range f.spec.Needed(i) {
		c := counted{}
		switch need.Kind {
		case task.NeedAfter:
			c = f.stages[need.Stage]
		case task.NeedBy:
			c = f.groups[grouping{i, k}]
		default:
			if f.verdict(m.At(0)) != Open {
				c.done = 1
			}
		}
		n += m.Count() - min(m.Count(), c.done+c.failed)
		k++
	}
	if n > 0 {
		first, _ = f.first(i, Open)
	}
	return n, first
}

// first returns the first task that another reads which has come to v.
func (f *Flow) first(i uint64, v Verdict) (uint64, bool) {
	for _, m := range f.spec.Needed(i) {
		for u := range m.All() {
			if f.verdict(u) == v {
				return u, true
			}
		}
	}
	return 0, false
}
