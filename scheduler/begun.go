package scheduler

import "time"

// A member is given more tasks than it has slots, so that none of these is idle for a round trip. Those beyond its
// slots wait there, and are not told as running. What began is known late, from the worker's next report: until then a
// lease is taken for begun if its member had a slot for it, in the order in which they were given.

// attached notes whether a lease that was just booked on its host has a slot there.
func (l *lease) attached() {
	if h := l.host; l.isOpen() && h.load-len(h.coming) > h.slots {
		h.ahead++
		return
	}
	l.gotSlot()
}

// gotSlot notes that a lease has its slot, or had it.
func (l *lease) gotSlot() {
	l.begun = true
	if l.task.begun++; l.task.begun == 1 {
		l.job.ahead--
	}
}

// leavesAhead notes that a lease waits no more for a slot, if it did: it runs, or what came of it is here.
func (l *lease) leavesAhead() {
	if !l.begun {
		l.host.ahead--
		l.gotSlot()
	}
}

// detached notes that a lease, which waits no more, is taken off its task.
func (l *lease) detached() {
	if l.task.begun--; l.task.begun == 0 {
		l.job.ahead++
	}
}

// passSlots gives slots that are free on a host to those that wait there, the first first.
func passSlots(h *host, now time.Time) {
	for i := 0; h.ahead > 0 && h.load-len(h.coming)-h.ahead < h.slots && i < len(h.leases); i++ {
		if l := h.leases[i]; !l.begun {
			l.slotAt = now
			l.leavesAhead()
		}
	}
}

// beganAt is when a lease got its slot, as far as is known: else when it was given.
func (l *lease) beganAt() time.Time {
	if l.slotAt.IsZero() {
		return l.start
	}
	return l.slotAt
}
