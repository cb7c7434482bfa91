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

// placeByClass is placeWaiting where the placement policy chooses whose turn it is: one
// that goes by classes does, and the overlay's rules name no other way. It is shown
// all that waits, class by class; only priorities go before.
func (d *dispatch) placeByClass(hosts []*host) {
	last := math.MaxInt
	for d.c.claims.queue.len() > 0 && d.admit(hosts) {
		priority, ok := d.c.claims.byClass.below(last)
		if !ok {
			return
		}
		last = priority
		view, placements := d.decideByClass(priority)
		d.c.effects = slices.Grow(d.c.effects, 2*len(placements)) // it is told, and noted
		for _, p := range placements {
			d.placeOne(view, p)
		}
		view.rest()
		d.c.claims.fair.parts = view.parts
		for k := range d.c.claims.fair.parts {
			if j := d.c.claims.fair.parts[k].job; j.hasWaiting() {
				d.c.claims.sumUp(j)
			} else {
				d.c.claims.dequeue(j)
			}
		}
	}
}

// decideByClass asks the placement policy about the jobs of a priority and the hosts that
// are open. What it returns holds until it is called again.
func (d *dispatch) decideByClass(priority int) (*queueView, []place.Placement) {
	m := &d.deciding
	m.view.begin(d.c, m.open, d.c.claims.fair.parts[:0])
	d.situate(d.c.claims.nextInTurn().mayResume())
	queue := m.classes.ofQueue(&m.view, d.c.claims.byClass, priority)
	return &m.view, d.policy.Place(d.c.now, queue, m.offers, foretold{d.c}, m.random(d.c.term.epoch, d.c.term.seq))
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
