package sim

import (
	"godwit/scheduler/place"
	"godwit/trace"
)

// An offering is which hosts may be given tasks, and which of those are offered.
type offering struct {
	roomy   hostSet // may be given tasks
	ranks   ranks
	touched []int32
	widened bool // all that are roomy are offered next
	offers  []place.Host
	offered []int32 // their numbers
	heeded  int     // of offers, placed on in their order
}

// open notes that a host may be given tasks.
func (o *offering) open(i int32) {
	o.roomy.set(i)
	o.ranks.note(i)
}

func (o *offering) close(i int32) {
	o.roomy.clear(i)
	o.ranks.note(i)
}

// room is how many tasks more a host may be given.
func (r *rules) room(h *simHost) int { return r.slots32() + r.ahead - int(h.load) }

func (r *rules) slots32() int { return int(r.slots) }

// touch notes that a host changed, which is to be offered in the next round if
// it has room. One that is gone unseen stays as it seemed.
func (f *farm) touch(i int32, h *simHost) {
	if !h.unseen && (h.state != trace.Available || !(h.speed > 0)) || f.room(h) <= 0 {
		f.close(i)
		return
	}
	f.open(i)
	if f.classes != nil {
		f.classes.touched(i, h)
	}
	if !h.touched {
		h.touched = true
		f.touched = append(f.touched, i)
	}
}

// book keeps a place for a task.
func (f *farm) book(t *simTask, i int32, h *simHost) {
	h.load++
	h.memory += t.memory
	f.ranks.note(i)
	if f.room(h) <= 0 {
		f.close(i)
	}
}

// forget drops what changed: nothing waits.
func (f *farm) forget() {
	for _, i := range f.touched {
		f.hosts[i].touched = false
	}
	f.touched, f.widened = f.touched[:0], false
}

// abandon gives up a task's place where it was being copied to.
func (f *farm) abandon(t *simTask) {
	if t.to == none {
		return
	}
	to := t.to
	t.to = none
	if h := &f.hosts[to]; h.epoch == t.toward {
		h.load--
		h.memory -= t.memory
		f.touch(to, h)
	}
}
