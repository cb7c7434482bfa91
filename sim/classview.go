package sim

import (
	"time"

	"godwit/scheduler/place"
	"godwit/task"
)

// A classView shows the queue by class too: a place.ClassQueue.
type classView struct {
	*view
	lasts []int32 // shown last of each class; none before the first
}

// begin shows the queue anew.
func (v *classView) begin() {
	v.lasts = v.lasts[:0]
	for range v.w.classes.lines {
		v.lasts = append(v.lasts, none)
	}
}

// Waiting implements place.ClassQueue. Saturated classes always wait.
func (v *classView) Waiting(names []string) []string {
	c := v.w.classes
	for i := range c.known {
		class := &v.w.scenario.Workload.Classes[i]
		if c.lines[i].head != none || class.Arrival == Saturated && !v.w.barred[i] {
			names = append(names, c.known[i].Name)
		}
	}
	if c.lines[len(c.known)].head != none {
		names = append(names, "")
	}
	return names
}

// NextOf implements place.ClassQueue.
func (v *classView) NextOf(class string) (place.Task, bool) {
	w := v.w
	i, ok := w.classes.numbers[class]
	if !ok {
		return place.Task{}, false
	}
	next := w.classes.lines[i].head
	if last := v.lasts[i]; last != none {
		next = w.classes.extra[last].next
	}
	if next == none {
		if next = w.refillOf(i); next == none {
			return place.Task{}, false
		}
	}
	v.lasts[i] = next
	v.shown = append(v.shown, next)
	return v.classed(next), true
}

// Next implements place.Queue.
func (v *classView) Next() (place.Task, bool) {
	t, ok := v.view.Next()
	if ok {
		t = v.classed(v.last)
	}
	return t, ok
}

// classed is a task as policies see it that go by classes.
func (v *classView) classed(k int32) place.Task {
	w := v.w
	out, t := w.shape(k), &w.tasks.slots[k]
	if t.class >= 0 {
		out.Class = w.classes.known[t.class].Name
	}
	out.Age = time.Duration(w.now - t.arrived)
	return out
}

// refillOf brings a task of a saturated class, none if it is not open or no host
// could run it.
func (w *world) refillOf(class int32) int32 {
	if int(class) >= len(w.barred) || w.barred[class] {
		return none
	}
	a, ok := w.source.refillOf(class, time.Duration(w.now))
	if !ok {
		return none
	}
	k := w.admit(a)
	if k == none {
		w.barred[class] = true
		return none
	}
	w.widened = false // it is being looked at
	return k
}

// Version implements place.Rates.
func (c *classes) Version() uint64 { return c.version }

// Classes implements place.Rates.
func (c *classes) Classes() []place.Class { return c.known }

// Peers implements place.Rates.
func (c *classes) Peers() []task.PeerID {
	if c.stale {
		c.stale, c.names = false, c.names[:0]
		for i := range c.w.hosts {
			if there(&c.w.hosts[i]) {
				c.names = append(c.names, c.w.peer(int32(i)))
			}
		}
	}
	return c.names
}

// guessedWork is the work of tasks of which no class tells it, those of the log:
// what place.Expected takes it for.
const guessedWork = time.Hour

// Of implements place.Rates.
func (c *classes) Of(class string, peer task.PeerID) float64 {
	j, ok := hostOf(peer)
	if !ok || j >= len(c.w.hosts) {
		return 0
	}
	i, ok := c.numbers[class]
	switch {
	case ok && int(i) < len(c.known) && c.measured(j, i) > 0:
		return c.measured(j, i)
	case ok && int(i) < len(c.known) && c.imposed != nil && c.seen == nil:
		return c.imposed.Of[i][j] / c.unit
	case ok && int(i) < len(c.known):
		return c.w.hosts[j].speed / c.w.scenario.Workload.Classes[i].Work.Seconds()
	}
	return c.w.hosts[j].speed / guessedWork.Seconds()
}

// measured is the rate of a class at a host as far as it was measured; 0 if it was not.
func (c *classes) measured(host int, class int32) float64 {
	if c.seen == nil {
		return 0
	}
	m := &c.seen[host*len(c.known)+int(class)]
	return float64(m.n) / max(m.seconds, 1e-9)
}

// Capacity implements place.Rates. Of rates that are not imposed, or measured, a host's
// share of its processors is in Of.
func (c *classes) Capacity(peer task.PeerID) float64 {
	j, ok := hostOf(peer)
	if !ok || j >= len(c.w.hosts) || !there(&c.w.hosts[j]) {
		return 0
	}
	if c.imposed == nil || c.seen != nil {
		return float64(c.w.slots)
	}
	return c.imposed.at(j) * c.w.hosts[j].speed
}

// Backlog implements place.Rates. Tasks that are on their way count as the mean of
// those that are there, or of all classes.
func (c *classes) Backlog(peer task.PeerID) float64 {
	j, ok := hostOf(peer)
	if !ok || j >= len(c.w.hosts) {
		return 0
	}
	h, n, sum := &c.w.hosts[j], int32(0), 0.0
	for k := h.tasks.head; k != none; k = c.w.tasks.slots[k].hnext {
		sum += c.length(int32(j), &c.w.tasks.slots[k])
		n++
	}
	switch {
	case h.load <= n:
	case n > 0:
		sum *= float64(h.load) / float64(n)
	default:
		mean := 0.0
		for i := range c.known {
			mean += c.length(int32(j), &simTask{class: int32(i)}) / float64(len(c.known))
		}
		sum = mean * float64(h.load)
	}
	return sum
}

// length is how long a host takes for a task of the same class in the mean, by its
// rate alone, in seconds; 0 if it cannot run it.
func (c *classes) length(j int32, t *simTask) float64 {
	name := ""
	if t.class >= 0 {
		name = c.known[t.class].Name
	}
	mu := c.Of(name, c.w.peer(j))
	if mu <= 0 {
		return 0
	}
	return 1 / mu
}
