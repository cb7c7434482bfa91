package place

import (
	"cmp"
	"slices"
	"strings"
)

// mostWeighed is how many waiting tasks are weighed by their length. Where more wait the
// end is far off, and in what order they go makes no difference to it.
const mostWeighed = 512

// look is how many waiting tasks a round looks at: as many as have a place, or at the end
// of a bag, where all that waits can be seen, all.
func (p *Expected) look() int {
	if p.inTurn || p.s.Endless || p.s.Waiting > mostWeighed {
		return p.idle
	}
	return max(p.idle, p.s.Waiting)
}

// longestFirst leaves as many tasks as have a place: of those that wait at the end of a
// bag the longest, which go first where the forecast and speeds are best. A whole ends
// with the last of its tasks, and a long one begun last holds it up (Graham, "Bounds on
// multiprocessing timing anomalies", SIAM J. Appl. Math. 17, 1969: longest processing time
// first ends within 4/3 of the best).
//
// A task that waits ages: with each second it counts as a second longer, so that longer
// ones that came after it pass it by for no longer than they are long. Of tasks that came
// together, as a bag's do, and are equal in length the turn decides.
func (p *Expected) longestFirst() {
	if len(p.tasks) <= p.idle {
		return
	}
	for i := range p.tasks {
		w := &p.tasks[i]
		w.turn = int32(i)
	}
	slices.SortStableFunc(p.tasks, func(a, b wanting) int {
		return -cmp.Compare(a.length+float64(a.task.Age), b.length+float64(b.task.Age))
	})
	p.tasks = p.tasks[:p.idle]
	for i := range p.tasks {
		p.tasks[i].sooner = int(p.tasks[i].turn) >= p.idle
	}
}

// longestWords are for a task that goes before others whose turn it was.
func longestWords(r *Reason) string {
	return "it has the most left of those that wait, so that it goes first" +
		strings.TrimPrefix(expectedWords(r), "next in order")
}
