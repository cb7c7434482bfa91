package worker

import (
	"time"

	"godwit/scheduler/message"
	"godwit/task"
)

// While every slot is busy, the first of those that wait are ready: whoever ends next begins one, and tells afterwards.
// They are still leases that wait, and may be taken back: then the driver is asked first whether they have begun.

// A readiness is how a lease is ready that waits; the zero value is of one that is not.
type readiness struct {
	ready bool  // it may begin any moment, as what started says
	asked bool  // whether it has: Unready was emitted
	undo  *undo // nil: it is not to be taken back
}

// An undo is what becomes of a lease that was ready, once it is known whether it has begun.
type undo struct {
	reason string        // it is given back for
	retry  time.Duration // see news.refuse
	begun  func()        // what is asked of one that runs; nil for nothing
}

// undone reports whether a lease that waits is to be given back.
func (h *heldLease) undone() bool { return h.undo != nil }

// ifBegun says what is asked of a lease if it turns out to run. It is nothing to one that was given back.
func (h *heldLease) ifBegun(do func()) {
	if h.undo != nil {
		h.undo.begun = do
	}
}

// haveReady has the first that wait be ready, so many for each slot; or none, where more runs than is lent.
func (w *Worker) haveReady() {
	switch {
	case w.cfg.Ahead == 0:
		return
	case w.running > w.owner.Slots || w.owner.Memory > 0 && w.memory > w.owner.Memory:
		w.unreadyAll()
		return
	}
	for _, h := range w.queue {
		switch {
		case w.ready >= w.cfg.Ahead*w.running:
			return
		case h.ready || h.job.spec == nil: // what others wait for is not held up
		case h.await != nil:
			return // it is its turn first
		default:
			h.ready, h.started = true, h.attempt
			w.ready++
			w.emit(message.Ready{Start: h.start()})
		}
	}
}

// unreadyAll has nothing begin that has not: it stays in the queue.
func (w *Worker) unreadyAll() {
	for _, h := range w.queue {
		if w.ready == 0 {
			return
		}
		if h.ready {
			w.unready(h)
		}
	}
}

// unready asks whether a lease that was ready has begun, once.
func (w *Worker) unready(h *heldLease) {
	if !h.asked {
		h.asked = true
		w.emit(message.Unready{Task: h.task, Attempt: h.started})
	}
}

// begin begins one that was ready, in a free slot. Its place in the queue is its caller's to take away.
func (w *Worker) begin(h *heldLease) {
	w.emit(message.Begin{Task: h.task, Attempt: h.started})
	w.begun(h)
}

// begun notes that one that was ready runs.
func (w *Worker) begun(h *heldLease) {
	h.ready, h.asked, h.running, h.begun = false, false, true, w.now
	w.ready--
	w.running++
	w.memory += h.memory()
}

// notBegun takes a lease back that was ready, or leaves it where it is.
func (w *Worker) notBegun(ev message.NotBegun) {
	h := w.held[ev.Task]
	if h == nil || !h.ready || h.started != ev.Attempt {
		return
	}
	h.ready, h.asked = false, false
	w.ready--
	u := h.undo
	h.undo = nil
	switch {
	case h.dropped:
		w.queue.remove(h)
		w.forget(h)
	case u != nil:
		w.giveBack(h, u.reason, u.retry)
	}
}

// runs returns the lease that was started so, nil for none. One that was ready has begun, if anything is heard of it.
func (w *Worker) runs(id task.TaskID, as message.Attempt) *heldLease {
	h := w.held[id]
	switch {
	case h == nil || h.started != as:
		return nil
	case h.ready:
		w.queue.remove(h)
		w.begun(h)
		w.tooLate(h)
	case !h.running:
		return nil
	}
	return h
}

// tooLate does with a lease that has begun what it was to be taken back for.
func (w *Worker) tooLate(h *heldLease) {
	u := h.undo
	h.undo = nil
	switch {
	case u == nil:
	case h.dropped:
		w.emit(message.Stop{Task: h.task, Attempt: h.started, Reason: u.reason})
	case u.begun != nil:
		u.begun()
	default: // the owner's word, which the driver obeys; or it ends with what else is too much
		w.news.urgent = true
	}
}
