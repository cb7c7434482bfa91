package place

import "slices"

// A round gives tasks in order to open hosts, one task at a time. A policy keeps
// one for its memory.
type round struct {
	hosts []Host
	open  []*Host       // with room, in the order of names or in that of order
	all   []*Host       // memory of open
	order func([]*Host) // nil: by name
	ahead bool          // idle hosts used up, tasks may wait at busy ones
	skip  bool          // a task that waits for a better host lets other jobs pass
	out   []Placement
	task  Task // that is being placed
	shape shape
	from  int // of open, those before do not fit the shape
}

// A choice says which of the open hosts a task goes to, and why. It is shown at
// least one that fits. ok is false when the task should rather wait.
type choice func(t *Task, open []*Host) (i int, reason Reason, ok bool)

// begin takes a copy of the hosts.
func (r *round) begin(hosts []Host) *round {
	r.hosts, r.out, r.shape = append(r.hosts[:0], hosts...), r.out[:0], shape{}
	sortByName(r.hosts)
	return r
}

// admit opens the hosts that have room: the idle ones, or all if busy.
func (r *round) admit(busy bool) {
	r.open = r.all[:0]
	for i := range r.hosts {
		if h := &r.hosts[i]; h.Free > 0 && (busy || h.Idle() > 0) {
			r.open = append(r.open, h)
		}
	}
	r.all, r.from = r.open, 0
	if r.order != nil {
		r.order(r.open)
	}
}

// fill takes tasks until no host is open, no task is left, or the one at the
// head waits: it then blocks those behind it (Zhang Figs 4-5, 4-6). busy opens
// busy hosts from the beginning.
func (r *round) fill(queue Queue, busy bool, choose choice) []Placement {
	r.admit(busy)
	for misses := 0; misses < maxMisses; {
		if len(r.open) == 0 && r.ahead && !busy {
			busy = true
			r.admit(busy)
		}
		if len(r.open) == 0 {
			break
		}
		var ok bool
		if r.task, ok = queue.Next(); !ok {
			break
		}
		t := &r.task
		if !r.fits(t) {
			misses++
			if !slices.ContainsFunc(r.open, func(h *Host) bool { return h.holds(t) }) {
				queue.SkipJob()
			}
			continue
		}
		i, reason, ok := choose(t, r.open)
		switch {
		case ok:
			misses = 0
			r.take(t, i, busy, reason)
		case r.skip:
			misses++
			queue.SkipJob()
		default:
			return r.out
		}
	}
	return r.out
}

// fits says whether an open host may run the task. It passes by those that
// another task of its shape was found not to fit.
func (r *round) fits(t *Task) bool {
	if !r.shape.same(t) {
		r.shape, r.from = shape{is: true, memory: t.Memory, avoid: t.Avoid}, 0
	}
	for r.from < len(r.open) && !r.open[r.from].Fits(t) {
		r.from++
	}
	return r.from < len(r.open)
}

// take books the task and closes the host when it has no room.
func (r *round) take(t *Task, i int, busy bool, reason Reason) {
	h := r.open[i]
	r.out = append(r.out, Placement{t.ID, h.Peer, reason})
	h.Take(t)
	if h.Free <= 0 || !busy && h.Idle() == 0 {
		r.open = without(r.open, i)
	}
}

// without takes out one of list by moving the fewer of those before and after
// it: tasks mostly go to the first, and there may be very many.
func without[T any](list []T, i int) []T {
	if i < len(list)/2 {
		copy(list[1:i+1], list[:i])
		return list[1:]
	}
	return append(list[:i], list[i+1:]...)
}
