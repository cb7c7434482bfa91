package worker

import "godwit/scheduler/message"

func (w *Worker) drop(n message.AttemptName) {
	h := w.held[n.Task]
	switch {
	case h == nil || h.attempt != n.Attempt || h.dropped:
	case !h.running && (n.Reason == message.DropRecall || n.Reason == message.DropMoved):
		w.giveBack(h, n.Reason, w.timing.RefusalPause) // the leader waits for the word that it did not start
		h.ifBegun(func() { w.drop(n) })
	case h.ready:
		w.unready(h)
		h.dropped, h.undo = true, &undo{reason: n.Reason}
	case !h.running:
		w.queue.remove(h)
		w.forget(h)
	case h.expected && n.Reason == message.DropMoved:
		w.stopExpecting(h, n.Reason)
	case n.Reason == message.DropRecall: // too late: it runs
		w.news.urgent = true
	case n.Reason == message.DropMoved:
		w.move(h)
	default:
		h.dropped = true
		w.emit(message.Stop{Task: h.task, Attempt: h.started, Reason: n.Reason})
	}
}

// move stops a lease with its state. It is held, and reported, until its end.
func (w *Worker) move(h *heldLease) {
	switch {
	case h.fixed:
		w.news.urgent = true
	case !h.moving:
		h.moving = true
		w.emit(message.Stop{Task: h.task, Attempt: h.started, Reason: message.DropMoved, Save: true})
	}
}

// notSaved notes that a lease's state cannot be saved, and tells the leader if
// that waits for it.
func (w *Worker) notSaved(ev message.NotSaved) {
	h := w.runs(ev.Task, ev.Attempt)
	if h == nil {
		return
	}
	w.news.urgent = w.news.urgent || h.moving || h.going != nil
	h.fixed, h.moving, h.going = true, false, nil
}
