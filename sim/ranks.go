package sim

import (
	"cmp"
	"slices"

	"godwit/scheduler/place"
)

// ranks are the idle hosts by the order of a policy that has one, so that a task that
// comes while many are idle costs little. They are made when they are first
// needed, and brought up to date when they are: where a task always waits nobody
// pays for them.
type ranks struct {
	order func() place.Ranking // see place.Traits; nil: the policy has none
	made  bool
	idle  hostSet
	stale []int32 // may have changed
	noted hostSet // in stale

	// best has the first of each pair of places 2k, 2k+1 at k: the first of all
	// is at 1, and host i at width+i, where it is idle; else none.
	best  []int32
	width int

	picked []int32
}

const (
	// rankedTasks is how many tasks may wait at most.
	rankedTasks = 64
	// rankedHosts is from how many hosts on it is worth it.
	rankedHosts = 256
)

// note says that a host may have changed.
func (r *ranks) note(i int32) {
	if r.made && !r.noted.has(i) {
		r.noted.set(i)
		r.stale = append(r.stale, i)
	}
}

// shortlist offers, of all hosts with room, only those that the policy will take
// for the few tasks that wait, and says whether it could.
func (w *world) shortlist() bool {
	r := &w.ranks
	if r.order == nil || !w.widened || w.saturated || w.waiting > rankedTasks {
		return false
	}
	tasks, memory := w.waiting, int64(0)
	for k := w.queue.head; k != none; k = w.tasks.slots[k].next {
		memory = max(memory, w.tasks.slots[k].memory)
	}
	w.rank()
	w.pick(tasks, r.order())
	if len(r.picked) < tasks {
		return false
	}
	for _, i := range r.picked {
		if memory > w.memory-w.hosts[i].memory {
			return false
		}
	}
	slices.Sort(r.picked)
	w.offers, w.offered = w.offers[:0], w.offered[:0]
	for _, i := range r.picked {
		w.offer(i)
	}
	w.forget()
	return true
}

// rank makes the ranks or brings them up to date.
func (w *world) rank() {
	r := &w.ranks
	if !r.made {
		r.made, r.idle, r.noted = true, newHostSet(len(w.hosts)), newHostSet(len(w.hosts))
		for r.width = 1; r.width < len(w.hosts); r.width *= 2 {
		}
		if !r.order().Turn {
			r.best = slices.Repeat([]int32{none}, 2*r.width)
		}
		for i := range w.hosts {
			r.note(int32(i))
		}
	}
	for _, i := range r.stale {
		r.noted.clear(i)
		if idle := w.roomy.has(i) && w.hosts[i].load < w.slots; idle {
			r.idle.set(i)
			w.compete(i, i)
		} else {
			r.idle.clear(i)
			w.compete(i, none)
		}
	}
	r.stale = r.stale[:0]
}

// compete puts a host, or none, in the place of host i.
func (w *world) compete(i, is int32) {
	best := w.ranks.best
	if best == nil {
		return
	}
	k := w.ranks.width + int(i)
	best[k] = is
	for k /= 2; k > 0; k /= 2 {
		was := best[k]
		if best[k] = w.faster(best[2*k], best[2*k+1]); best[k] == was && was != i {
			return // another is first here, before as now: so it is above
		}
	}
}

// faster is which of two idle hosts, or none, is first by the zero
// place.Ranking; a has the lower number.
func (w *world) faster(a, b int32) int32 {
	if a == none || b == none {
		return max(a, b)
	}
	g, h := &w.hosts[a], &w.hosts[b]
	if c := cmp.Or(-cmp.Compare(g.speed, h.speed), cmp.Compare(g.load, h.load)); c <= 0 {
		return a
	}
	return b
}

// pick notes the first n idle hosts, or all if they are fewer.
func (w *world) pick(n int, by place.Ranking) {
	r := &w.ranks
	r.picked = r.picked[:0]
	if by.Turn {
		from := int32(0)
		if last, ok := hostOf(by.After); ok {
			from = int32(last) + 1
		}
		r.turn(n, from, int32(len(w.hosts)))
		r.turn(n, 0, from)
		return
	}
	for len(r.picked) < n && r.best[1] != none {
		i := r.best[1]
		r.picked = append(r.picked, i)
		w.compete(i, none)
	}
	for _, i := range r.picked {
		w.compete(i, i)
	}
}

// turn notes idle hosts from from to before to, until n are noted.
func (r *ranks) turn(n int, from, to int32) {
	for i := r.idle.next(from); i != none && i < to && len(r.picked) < n; i = r.idle.next(i + 1) {
		r.picked = append(r.picked, i)
	}
}
