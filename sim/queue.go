package sim

import (
	"time"

	"godwit/scheduler/place"
)

// A view shows the queue to a policy, then tasks of the saturated classes, which
// come as it looks at them.
type view struct {
	w     *world
	last  int32 // shown
	shown []int32
	seen  int // of shown, placed in their order
}

// Next implements place.Queue.
func (v *view) Next() (place.Task, bool) {
	w := v.w
	next := w.queue.head
	if v.last != none {
		next = w.tasks.slots[v.last].next
	}
	if next == none {
		if next = w.refill(); next == none {
			return place.Task{}, false
		}
	}
	v.last = next
	v.shown = append(v.shown, next)
	t := w.shape(next)
	t.Age = time.Duration(w.now - w.tasks.slots[next].arrived)
	return t, true
}

// SkipJob implements place.Queue. A job's tasks are those of one class that came
// at one time.
func (v *view) SkipJob() {
	ts := v.w.tasks.slots
	t := &ts[v.last]
	for n := t.next; n != none && ts[n].class == t.class && ts[n].arrived == t.arrived; n = ts[n].next {
		v.last = n
	}
}

// find returns the task of a placement among those shown; policies mostly place
// in the order shown.
func (v *view) find(id uint64) int32 {
	ts, i := v.w.tasks.slots, v.seen
	for range v.shown {
		if i >= len(v.shown) {
			i = 0
		}
		if ts[v.shown[i]].id == id {
			v.seen = i + 1
			return v.shown[i]
		}
		i++
	}
	return none
}
