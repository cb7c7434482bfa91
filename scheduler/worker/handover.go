package worker

import (
	"cmp"
	"slices"
	"time"

	"godwit/scheduler/message"
	"godwit/task"
)

// A worker's part in hand-overs: see MoveOrder for the source's and Await for the
// destination's.

// keepArrived is how long a state is kept that arrived whole, of a task that did
// not: the leader fetches it if it is the best there is. At 20 Mbit/s half a
// gigabyte takes three and a half minutes.
const keepArrived = 5 * time.Minute

// An arrivedState is a state whose task did not come with it.
type arrivedState struct {
	saved message.SavedState
	until time.Time
}

// moveTo begins a hand-over as the leader orders it, or says what came of it.
func (w *Worker) moveTo(m *message.MoveOrder) {
	h := w.held[m.Task]
	switch {
	case h == nil || h.attempt != m.Attempt || h.dropped || h.moving: // its end is on its way
	case h.unmoved != nil && h.unmoved.As == m.As:
		w.unmoved = append(w.unmoved, *h.unmoved)
	case h.expected:
		w.unmoved = append(w.unmoved, message.Unmoved{Task: m.Task, Attempt: m.Attempt, As: m.As,
			Reason: "the task has not arrived here yet itself"})
	case !h.running:
		w.giveBack(h, message.DropMoved, w.timing.RefusalPause)
	case h.fixed:
		w.urgent = true
	case h.going == nil:
		order := *m
		h.going = &order
		w.urgent = true
		w.emit(message.HandOver{Task: h.task, Attempt: h.started, Named: h.attempt, To: m.To, As: m.As, Urgent: m.Urgent})
	case h.going.As != m.As:
		w.unmoved = append(w.unmoved, message.Unmoved{Task: m.Task, Attempt: m.Attempt, As: m.As,
			Reason: "another hand-over of the task is under way"})
	}
}

// notHanded notes that a hand-over came to nothing, and tells the leader at once.
func (w *Worker) notHanded(ev message.NotHanded) {
	h := w.held[ev.Task]
	if h == nil || !h.running || h.started != ev.Attempt || h.going == nil {
		return
	}
	h.unmoved = &message.Unmoved{Task: h.task, Attempt: h.going.Attempt, As: h.going.As,
		Reason: task.ClipMessage(ev.Reason)}
	h.going = nil
	w.unmoved = append(w.unmoved, *h.unmoved)
	w.urgent = true
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

// awaits says whether a lease's state is to come from another worker.
func (h *heldLease) awaits() bool { return h.await != nil }

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
		w.refuse(l.Task, l.Attempt, "another hand-over of the task has not ended here yet", w.timing.RefusalPause)
	case h.expected && w.owner.Slots <= 0:
		h.attempt = l.Attempt
		w.stopExpecting(h, ownerReason(w.owner))
	default:
		w.beginInstead(h, l, holders)
	}
}

// beginInstead begins an awaited task from what a lease names.
func (w *Worker) beginInstead(h *heldLease, l *message.Lease, holders []task.PeerID) {
	h.attempt, h.await, h.from, h.left, h.holders = l.Attempt, nil, l.From, l.Left, holders
	w.urgent = true
	if h.expected {
		h.expected = false
		w.emit(message.Start{Task: h.task, Attempt: h.started, From: h.from, Holders: h.holders, Left: h.left})
		return
	}
	w.unqueue(h)
	w.enqueue(h)
}

// stopExpecting gives an awaited lease back; its NotArrived follows.
func (w *Worker) stopExpecting(h *heldLease, reason string) {
	h.back = reason
	w.emit(message.Stop{Task: h.task, Attempt: h.started, Reason: reason})
}

// arrived notes that an awaited task runs here, and tells the leader at once.
func (w *Worker) arrived(ev message.Arrived) {
	h := w.held[ev.Task]
	if h == nil || !h.running || h.started != ev.Attempt || !h.expected {
		return // a Start came first, and is ignored
	}
	h.expected, h.await, h.begun = false, nil, w.now
	w.urgent = true
}

// notArrived gives an awaited lease back, and keeps what did arrive.
func (w *Worker) notArrived(ev message.NotArrived) {
	h := w.held[ev.Task]
	if h == nil || !h.running || h.started != ev.Attempt || !h.expected {
		return
	}
	w.running--
	w.memory -= h.job.spec.Memory
	w.forget(h)
	w.urgent = true
	if h.next != nil {
		w.take(h.next, h.holders)
	}
	if h.dropped {
		return
	}
	if s := ev.Saved; s != nil && s.Valid() {
		if len(w.orphans) >= message.MaxSaved {
			w.orphans = slices.Delete(w.orphans, 0, 1)
		}
		w.orphans = append(w.orphans, arrivedState{message.SavedState{Task: h.task, Attempt: h.attempt, Checkpoint: *s},
			w.now.Add(keepArrived)})
	}
	w.refuse(h.task, h.attempt, cmp.Or(h.back, ev.Reason), w.timing.RefusalPause)
}

// nextArrived returns the states that arrived without their tasks, at most so
// many, and forgets those that were kept for long enough.
func (w *Worker) nextArrived(most int) []message.SavedState {
	w.orphans = slices.DeleteFunc(w.orphans, func(o arrivedState) bool { return !w.now.Before(o.until) })
	var out []message.SavedState
	for i := range w.orphans {
		if len(out) < most {
			out = append(out, w.orphans[i].saved)
		}
	}
	return out
}

// HandsTo lists the workers to which this one is handing tasks over, or has, as
// far as no leader has acknowledged it. In no order.
func (w *Worker) HandsTo() (to []task.PeerID) {
	for _, h := range w.held {
		if h.going != nil {
			to = append(to, h.going.To)
		}
	}
	for _, u := range w.endings {
		if h := u.ending.Handed; h != nil {
			to = append(to, h.To)
		}
	}
	return to
}

// nextUnmoved returns the moves that came to nothing and are to be told now.
func (w *Worker) nextUnmoved() []message.Unmoved {
	n := min(len(w.unmoved), message.MaxMoves)
	out := w.unmoved[:n:n]
	w.unmoved = w.unmoved[n:]
	return out
}
