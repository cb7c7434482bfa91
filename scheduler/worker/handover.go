package worker

import (
	"godwit/scheduler/message"
	"godwit/task"
)

// moveTo begins a hand-over, of which this worker is the source, as the leader orders it, or says what came of it.
func (w *Worker) moveTo(m *message.MoveOrder) {
	h := w.held[m.Task]
	switch {
	case h == nil || h.attempt != m.Attempt || h.dropped || h.moving: // its end is on its way
	case h.unmoved != nil && h.unmoved.As == m.As:
		w.news.unmoved = append(w.news.unmoved, *h.unmoved)
	case h.expected:
		w.news.unmoved = append(w.news.unmoved, message.Unmoved{Task: m.Task, Attempt: m.Attempt, As: m.As,
			Reason: "the task has not arrived here yet itself"})
	case !h.running:
		w.giveBack(h, message.DropMoved, w.timing.RefusalPause)
		order := *m
		h.ifBegun(func() { w.moveTo(&order) })
	case h.fixed:
		w.news.urgent = true
	case h.going == nil:
		order := *m
		h.going = &order
		w.news.urgent = true
		w.emit(message.HandOver{Task: h.task, Attempt: h.started, Named: h.attempt, To: m.To, As: m.As})
	case h.going.As != m.As:
		w.news.unmoved = append(w.news.unmoved, message.Unmoved{Task: m.Task, Attempt: m.Attempt, As: m.As,
			Reason: "another hand-over of the task is under way"})
	}
}

// notHanded notes that a hand-over came to nothing, and tells the leader at once.
func (w *Worker) notHanded(ev message.NotHanded) {
	h := w.runs(ev.Task, ev.Attempt)
	if h == nil || h.going == nil {
		return
	}
	h.unmoved = &message.Unmoved{Task: h.task, Attempt: h.going.Attempt, As: h.going.As,
		Reason: task.ClipMessage(ev.Reason)}
	h.going = nil
	w.news.unmoved = append(w.news.unmoved, *h.unmoved)
	w.news.urgent = true
}

// handedOver says what is told of an attempt's end beside its result: where the
// guest runs on, if it does.
func (h *heldLease) handedOver(ev *message.Ended) *message.Handed {
	if ev.Handed == nil || h.going == nil || ev.Result.Outcome != task.Interrupted {
		return nil
	}
	handed := *ev.Handed
	handed.To, handed.As = h.going.To, h.going.As
	return &handed
}
