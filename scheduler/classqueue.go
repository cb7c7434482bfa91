package scheduler

import (
	"cmp"
	"maps"
	"slices"
	"sort"

	"godwit/scheduler/learning"
	"godwit/scheduler/place"
)

// A classQueue has the jobs with waiting tasks by class, in the order in which they
// should go. nil has none and keeps none.
type classQueue struct {
	lines []*classJobs // by name; some may have no jobs
	index map[string]*classJobs
}

// classJobs are the queued jobs of one class.
type classJobs struct {
	name string
	jobs []*job // by comesFirst
}

// comesFirst orders jobs by priority, then by arrival.
func comesFirst(a, b *job) int {
	return cmp.Or(-cmp.Compare(a.priority, b.priority), cmp.Compare(a.arrival, b.arrival))
}

func compareClassJobs(a, b *classJobs) int { return cmp.Compare(a.name, b.name) }

// add puts a job in.
func (q *classQueue) add(j *job) {
	if q == nil {
		return
	}
	l := q.index[j.spec.Class]
	if l == nil {
		l = &classJobs{name: j.spec.Class}
		q.index[l.name] = l
		i, _ := slices.BinarySearchFunc(q.lines, l, compareClassJobs)
		q.lines = slices.Insert(q.lines, i, l)
	}
	i, _ := slices.BinarySearchFunc(l.jobs, j, comesFirst)
	l.jobs = slices.Insert(l.jobs, i, j)
}

// remove takes a job out that is in.
func (q *classQueue) remove(j *job) {
	if q == nil {
		return
	}
	l := q.index[j.spec.Class]
	if i, ok := slices.BinarySearchFunc(l.jobs, j, comesFirst); ok {
		l.jobs = slices.Delete(l.jobs, i, i+1)
	}
	if len(l.jobs) == 0 && len(q.lines) > learning.MaxClasses { // else it is kept for its memory
		delete(q.index, l.name)
		i, _ := slices.BinarySearchFunc(q.lines, l, compareClassJobs)
		q.lines = slices.Delete(q.lines, i, i+1)
	}
}

// queueByClass keeps the jobs by class if placements are to be made so.
func (cs *claims) queueByClass() {
	if cs.byClass = nil; !cs.c.dispatch.rated() || cs.c.cfg.Rules.Fairness != "" || cs.c.cfg.Rules.Open {
		return
	}
	cs.byClass = &classQueue{index: map[string]*classJobs{}}
	for _, id := range slices.Sorted(maps.Keys(cs.c.table.jobs)) {
		if j := cs.c.table.jobs[id]; j.queued {
			cs.byClass.add(j)
		}
	}
}

// below returns the highest priority of a job that is lower than another, and false
// if there is none.
func (q *classQueue) below(priority int) (next int, ok bool) {
	for _, l := range q.lines {
		if _, i := l.at(priority); i < len(l.jobs) && (!ok || l.jobs[i].priority > next) {
			next, ok = l.jobs[i].priority, true
		}
	}
	return next, ok
}

// at says between which places the jobs of a priority are.
func (l *classJobs) at(priority int) (from, to int) {
	from = sort.Search(len(l.jobs), func(i int) bool { return l.jobs[i].priority <= priority })
	to = sort.Search(len(l.jobs), func(i int) bool { return l.jobs[i].priority < priority })
	return from, to
}

var _ place.ClassQueue = (*classView)(nil)
