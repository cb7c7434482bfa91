package place

import (
	"cmp"
	"slices"
)

// A round gives tasks in order to open hosts, one task at a time.
type round struct {
	hosts []Host
	open  []*Host       // with room, in the order of names or in that of order
	order func([]*Host) // nil: by name
	ahead bool          // idle hosts used up, tasks may wait at busy ones
	skip  bool          // a task that waits for a better host lets other jobs pass
	out   []Placement
}

// A choice says which of the open hosts a task goes to, and why. It is shown at
// least one that fits. ok is false when the task should rather wait.
type choice func(t *Task, open []*Host) (i int, reason string, ok bool)

func newRound(hosts []Host) *round {
	r := &round{hosts: slices.Clone(hosts)}
	slices.SortFunc(r.hosts, func(a, b Host) int { return cmp.Compare(a.Peer, b.Peer) })
	return r
}

// admit opens the hosts that have room: the idle ones, or all if busy.
func (r *round) admit(busy bool) {
	r.open = r.open[:0]
	for i := range r.hosts {
		if h := &r.hosts[i]; h.Free > 0 && (busy || h.Idle() > 0) {
			r.open = append(r.open, h)
		}
	}
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
		t, ok := queue.Next()
		if !ok {
			break
		}
		if !slices.ContainsFunc(r.open, func(h *Host) bool { return h.Fits(&t) }) {
			misses++
			if !slices.ContainsFunc(r.open, func(h *Host) bool { return t.Memory <= min(h.Memory, h.MemoryFree) }) {
				queue.SkipJob()
			}
			continue
		}
		i, reason, ok := choose(&t, r.open)
		switch {
		case ok:
			misses = 0
			r.take(&t, i, busy, reason)
		case r.skip:
			misses++
			queue.SkipJob()
		default:
			return r.out
		}
	}
	return r.out
}

// take books the task and closes the host when it has no room.
func (r *round) take(t *Task, i int, busy bool, reason string) {
	h := r.open[i]
	r.out = append(r.out, Placement{t.ID, h.Peer, reason})
	h.Take(t)
	if h.Free <= 0 || !busy && h.Idle() == 0 {
		r.open = slices.Delete(r.open, i, i+1)
	}
}
