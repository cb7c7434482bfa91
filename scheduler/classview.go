package scheduler

import (
	"cmp"
	"math"
	"slices"

	"godwit/scheduler/place"
	"godwit/task"
)

// A classView shows a queue by class too, as a place.ClassQueue. What it shows are the
// parts of a queueView, or, where nobody has made parts, all jobs of one priority of a
// classQueue, which become parts as they are shown. A coordinator has one, for its
// memory.
type classView struct {
	q     *queueView
	lines []classLine // by name
	index map[string]int
	whole bool // of a classQueue
	last  int  // of lines, the one that Next showed last
}

// A classLine is how far a view has come with a class.
type classLine struct {
	name  string
	jobs  []*job // of a classQueue, those not yet begun
	parts []int  // or its parts
	begin int    // in parts, the first not yet begun
	at    int    // of parts, the one shown now; -1 for none
	// What follows is as in queueView.
	left, back int
	begun      bool
	paused     []task.PeerID
}

// ofParts shows the parts of a view.
func (v *classView) ofParts(q *queueView) *classView {
	v.begin(q, false)
	for k := range q.parts {
		name := q.parts[k].job.spec.Class
		i, ok := v.index[name]
		if !ok {
			i = v.line(name)
		}
		v.lines[i].parts = append(v.lines[i].parts, k)
	}
	slices.SortFunc(v.lines, func(a, b classLine) int { return cmp.Compare(a.name, b.name) })
	for i := range v.lines {
		v.index[v.lines[i].name] = i
	}
	return v
}

// ofQueue shows the jobs of a priority. The view has no parts.
func (v *classView) ofQueue(q *queueView, of *classQueue, priority int) *classView {
	v.begin(q, true)
	for _, l := range of.lines {
		from, to := l.at(priority)
		if from < to {
			i := v.line(l.name)
			v.lines[i].jobs = l.jobs[from:to]
		}
	}
	return v
}

func (v *classView) begin(q *queueView, whole bool) {
	if v.index == nil {
		v.index = map[string]int{}
	}
	clear(v.index)
	v.q, v.whole, v.last, v.lines = q, whole, -1, v.lines[:0]
}

// line adds an empty line and returns its place.
func (v *classView) line(name string) int {
	n := len(v.lines)
	if n < cap(v.lines) {
		v.lines = v.lines[:n+1]
	} else {
		v.lines = append(v.lines, classLine{})
	}
	v.lines[n] = classLine{name: name, at: -1, parts: v.lines[n].parts[:0]}
	v.index[name] = n
	return n
}

// Waiting implements place.ClassQueue.
func (v *classView) Waiting(names []string) []string {
	for i := range v.lines {
		names = append(names, v.lines[i].name)
	}
	return names
}

// NextOf implements place.ClassQueue.
func (v *classView) NextOf(class string) (place.Task, bool) {
	i, ok := v.index[class]
	if !ok {
		return place.Task{}, false
	}
	return v.next(&v.lines[i])
}

// next returns the next task of a line.
func (v *classView) next(l *classLine) (place.Task, bool) {
	for l.at >= 0 || v.advance(l) {
		if t, ok := v.here(l); ok {
			return t, true
		}
	}
	return place.Task{}, false
}

// here returns the next task of what a line shows now, and false at its end.
func (v *classView) here(l *classLine) (place.Task, bool) {
	q := v.q
	q.at, q.left, q.back, q.begun, q.paused = l.at, l.left, l.back, l.begun, l.paused
	t, ok := q.here()
	l.left, l.back, l.begun, l.paused = q.left, q.back, q.begun, q.paused
	if !ok {
		l.at = -1
	}
	return t, ok
}

// advance has a line show its next job. It says false at the end of them.
func (v *classView) advance(l *classLine) bool {
	switch {
	case l.begin < len(l.parts):
		l.at = l.parts[l.begin]
		l.begin++
	case len(l.jobs) > 0:
		v.q.parts = append(v.q.parts, part{job: l.jobs[0], n: whole})
		l.at, l.jobs = len(v.q.parts)-1, l.jobs[1:]
	default:
		return false
	}
	l.left, l.back, l.begun, l.paused = 0, 0, false, nil
	return true
}

// Next implements place.Queue: parts in their order, or jobs in that of arrival.
func (v *classView) Next() (place.Task, bool) {
	if !v.whole {
		return v.q.Next()
	}
	for {
		v.last = -1
		first := uint64(math.MaxUint64)
		for i := range v.lines {
			if j := v.head(&v.lines[i]); j != nil && j.arrival < first {
				v.last, first = i, j.arrival
			}
		}
		if v.last < 0 {
			return place.Task{}, false
		}
		l := &v.lines[v.last]
		if l.at < 0 {
			v.advance(l)
		}
		if t, ok := v.here(l); ok {
			return t, true
		}
	}
}

// head is the job that a line of whole jobs shows next, nil at its end.
func (v *classView) head(l *classLine) *job {
	switch {
	case l.at >= 0:
		return v.q.parts[l.at].job
	case len(l.jobs) > 0:
		return l.jobs[0]
	}
	return nil
}

// SkipJob implements place.Queue.
func (v *classView) SkipJob() {
	switch {
	case !v.whole:
		v.q.SkipJob()
	case v.last >= 0:
		v.lines[v.last].at = -1
	}
}
