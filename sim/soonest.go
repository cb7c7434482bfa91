package sim

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"

	"godwit/scheduler/place"
)

// soonestLook is how many waiting tasks are looked at in a round: more than there are
// in a bag.
const soonestLook = 1 << 14

// soonest is the oracle for bags. It takes tasks by their length, the longest first, and
// gives each to the idle host that completes it first; where none does, to the one that
// does most of it, if one checkpoint can be made there. As the other it is no optimum: it
// keeps no slot free for a better host that is about to come, and moves nothing.
type soonest struct{ *oracle }

// Place implements place.Policy.
func (o soonest) Place(now time.Time, queue place.Queue, hosts []place.Host, _ place.Forecast,
	_ *rand.Rand) []place.Placement {
	from := now.Add(o.delay)
	o.oracle.idle, o.oracle.open, o.oracle.out = append(o.idle[:0], hosts...), o.open[:0], o.out[:0]
	for i := range o.idle {
		h := &o.idle[i]
		if n, ok := hostOf(h.Peer); ok && n < len(o.hosts) && h.Idle() > 0 {
			o.oracle.open = append(o.open, stayer{h, n, o.lasts(n, now, from)})
		}
	}
	var waiting []place.Task
	for t, ok := queue.Next(); ok && len(waiting) < soonestLook; t, ok = queue.Next() {
		waiting = append(waiting, t)
	}
	slices.SortStableFunc(waiting, func(a, b place.Task) int { return -cmp.Compare(a.Left, b.Left) })
	for k := range waiting {
		t := &waiting[k]
		i, reason := o.pick(from, t)
		if i < 0 {
			continue
		}
		h := o.open[i].host
		o.oracle.out = append(o.out, place.Placement{Task: t.ID, Peer: h.Peer, Reason: place.Because(reason)})
		if h.Take(t); h.Idle() == 0 || h.Free <= 0 {
			o.oracle.open = slices.Delete(o.open, i, i+1)
		}
	}
	return o.out
}

// pick returns the place in open of the host that gets a task, or -1.
func (o soonest) pick(from time.Time, t *place.Task) (int, string) {
	if i := o.soonest(from, t, float64(t.Left)); i >= 0 {
		return i, "the longest that waits; it is completed here first"
	}
	most := -1
	for i := range o.open {
		if s := &o.open[i]; s.lasting >= o.least && s.host.Fits(t) && (most < 0 || s.lasting > o.open[most].lasting) {
			most = i
		}
	}
	if most < 0 || !o.resumes {
		return -1, ""
	}
	return most, "the longest that waits; nobody stays long enough; most is done here, and it goes on from a checkpoint"
}
