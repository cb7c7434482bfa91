package worker

import (
	"time"

	"godwit/overlay"
	"godwit/scheduler/message"
)

// maxHeld bounds the leases that a worker takes: slots, and tasks ahead.
const maxHeld = overlay.MaxSlots + 1024

// place takes leases. The job of the first is prepared once for all.
func (w *Worker) place(p *message.Place) {
	for _, l := range p.Leases {
		h := w.held[l.Task]
		reason, retry := w.cannotTake()
		switch {
		case w.renewed(&l):
		case h != nil && h.awaits():
			w.instead(h, &l, p.Holders[l.Task.Job])
		case h != nil && w.owner.Slots > 0:
			w.renumber(h, &l)
		case reason != "":
			w.news.refuse(l.Task, l.Attempt, reason, retry)
		default:
			w.take(&l, p.Holders[l.Task.Job], p.Keys[l.Task.Job])
		}
	}
}

// renewed says whether a lease is of a task whose result is here already, and
// reports that result as the lease's.
func (w *Worker) renewed(l *message.Lease) bool {
	u := w.results.completed[l.Task]
	if u == nil {
		return false
	}
	if u.ending.Attempt.Less(l.Attempt) {
		u.ending.Attempt = l.Attempt
	}
	u.sent = time.Time{}
	w.news.urgent = true
	return true
}

// cannotTake says why a lease is refused, or "", and when to try again.
func (w *Worker) cannotTake() (reason string, retry time.Duration) {
	switch reason := w.results.tooMany(w.cfg.MaxUnackedBytes); {
	case w.owner.Slots <= 0:
		return ownerReason(w.owner), w.ownerRetry()
	case reason != "":
		return reason, w.timing.RefusalPause
	case len(w.held) >= maxHeld:
		return "the worker holds as many tasks as it can", w.timing.RefusalPause
	}
	return "", 0
}

// renumber takes over a later attempt of a task that is here already, so that
// it need not be run twice. The same attempt again changes nothing.
func (w *Worker) renumber(h *heldLease, l *message.Lease) {
	if !h.attempt.Less(l.Attempt) {
		return
	}
	h.attempt, h.receipt, h.dropped, h.undo = l.Attempt, l.Receipt, false, nil
	if !h.running {
		w.queue.remove(h)
		w.queue.add(h)
	}
	w.news.urgent = true
}
