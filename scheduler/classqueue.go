package scheduler

import (
	"cmp"
	"maps"
	"math"
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
	return cmp.Or(-cmp.Compare(a.spec.Priority, b.spec.Priority), cmp.Compare(a.arrival, b.arrival))
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
func (c *Coordinator) queueByClass() {
	if c.byClass = nil; !c.rated() || c.cfg.Rules.Fairness != "" {
		return
	}
	c.byClass = &classQueue{index: map[string]*classJobs{}}
	for _, id := range slices.Sorted(maps.Keys(c.jobs)) {
		if j := c.jobs[id]; j.queued {
			c.byClass.add(j)
		}
	}
}

// placeByClass is placeWaiting where the placement policy chooses whose turn it is: one
// that goes by classes does, and the overlay's rules name no other way. It is shown
// all that waits, class by class; only priorities go before.
func (c *Coordinator) placeByClass(hosts []*host) {
	last := math.MaxInt
	for c.queue.len() > 0 && c.admit(hosts) {
		priority, ok := c.byClass.below(last)
		if !ok {
			return
		}
		last = priority
		view, placements := c.decideByClass(priority)
		c.effects = slices.Grow(c.effects, 2*len(placements)) // it is told, and noted
		for _, p := range placements {
			c.placeOne(view, p)
		}
		view.rest()
		c.fair.parts = view.parts
		for k := range c.fair.parts {
			if j := c.fair.parts[k].job; j.hasWaiting() {
				c.sumUp(j)
			} else {
				c.dequeue(j)
			}
		}
	}
}

// decideByClass asks the placement policy about the jobs of a priority and the hosts that
// are open. What it returns holds until it is called again.
func (c *Coordinator) decideByClass(priority int) (*queueView, []place.Placement) {
	m := &c.deciding
	m.view.begin(c, m.open, c.fair.parts[:0])
	c.situate(c.nextInTurn().mayResume())
	queue := m.classes.ofQueue(&m.view, c.byClass, priority)
	return &m.view, c.policy.Place(c.now, queue, m.offers, foretold{c}, m.random(c.epoch, c.seq))
}

// below returns the highest priority of a job that is lower than another, and false
// if there is none.
func (q *classQueue) below(priority int) (next int, ok bool) {
	for _, l := range q.lines {
		if _, i := l.at(priority); i < len(l.jobs) && (!ok || l.jobs[i].spec.Priority > next) {
			next, ok = l.jobs[i].spec.Priority, true
		}
	}
	return next, ok
}

// at says between which places the jobs of a priority are.
func (l *classJobs) at(priority int) (from, to int) {
	from = sort.Search(len(l.jobs), func(i int) bool { return l.jobs[i].spec.Priority <= priority })
	to = sort.Search(len(l.jobs), func(i int) bool { return l.jobs[i].spec.Priority < priority })
	return from, to
}

var _ place.ClassQueue = (*classView)(nil)
