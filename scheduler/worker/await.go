package worker

import (
	"cmp"

	"godwit/scheduler/message"
	"godwit/task"
)

// A worker's part in hand-overs as their destination: see Await.

// instead takes a lease of a task that is awaited here. Without Await it says that
// nobody brings it.
func (w *Worker) instead(h *heldLease, l *message.Lease, holders []task.PeerID) {
	switch {
	case l.Attempt.Less(h.attempt) || h.dropped && l.Attempt == h.attempt: // out of date
	case l.Await != nil && l.Attempt == h.attempt: // said again
	case h.dropped: // it ends at any moment
		next := *l
		h.next, h.holders = &next, holders
	case l.Await != nil:
		w.news.refuse(l.Task, l.Attempt, "another hand-over of the task has not ended here yet", w.timing.RefusalPause)
	case h.expected && w.owner.Slots <= 0:
		h.attempt, h.receipt = l.Attempt, l.Receipt
		w.stopExpecting(h, ownerReason(w.owner))
	default:
		w.beginInstead(h, l, holders)
	}
}

// beginInstead begins an awaited task from what a lease names.
func (w *Worker) beginInstead(h *heldLease, l *message.Lease, holders []task.PeerID) {
	h.attempt, h.receipt, h.await, h.from, h.left, h.holders = l.Attempt, l.Receipt, nil, l.From, l.Left, holders
	h.bad = nil
	w.news.urgent = true
	if h.expected {
		h.expected = false
		w.emit(message.Start{Task: h.task, Attempt: h.started, From: h.from, Holders: h.holders, Left: h.left, Reads: h.reads,
			Receipt: h.receipt})
		return
	}
	w.queue.remove(h)
	w.queue.add(h)
}

// stopExpecting gives an awaited lease back; its NotArrived follows.
func (w *Worker) stopExpecting(h *heldLease, reason string) {
	h.back = reason
	w.emit(message.Stop{Task: h.task, Attempt: h.started, Reason: reason})
}

// arrived notes that an awaited task runs here, and tells the leader at once.
func (w *Worker) arrived(ev message.Arrived) {
	h := w.runs(ev.Task, ev.Attempt)
	if h == nil || !h.expected {
		return // a Start came first, and is ignored
	}
	h.expected, h.await, h.begun = false, nil, w.now
	w.news.urgent = true
}

// notArrived gives an awaited lease back, and keeps what did arrive.
func (w *Worker) notArrived(ev message.NotArrived) {
	h := w.runs(ev.Task, ev.Attempt)
	if h == nil || !h.expected {
		return
	}
	w.running--
	w.memory -= h.memory()
	w.forget(h)
	w.news.urgent = true
	if h.next != nil {
		w.take(h.next, h.holders, h.job.key)
	}
	if h.dropped {
		return
	}
	if s := ev.Saved; s != nil && s.Valid() {
		w.orphans.add(message.SavedState{Task: h.task, Attempt: h.attempt, Checkpoint: *s}, w.now)
	}
	w.news.refuse(h.task, h.attempt, cmp.Or(h.back, ev.Reason), w.timing.RefusalPause)
}
