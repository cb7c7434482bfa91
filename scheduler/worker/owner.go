package worker

import (
	"slices"
	"time"

	"godwit/overlay"
	"godwit/scheduler/message"
)

// ownerChanged obeys the machine's owner before anybody else: with no slots
// left, what has not started is given back at once.
func (w *Worker) ownerChanged(o message.OwnerState) {
	o.Slots = min(max(o.Slots, 0), overlay.MaxSlots)
	before := w.owner
	before.Until = o.Until       // of which the leader is not told
	before.Withheld = o.Withheld // and of which it is told in time
	w.owner = o
	if o == before {
		return
	}
	w.news.urgent = true
	if o.Slots > 0 {
		return
	}
	for _, h := range slices.Clone(w.queue) {
		w.giveBack(h, ownerReason(o), w.ownerRetry())
	}
}

// ownerRetry is when to ask again while the owner allows nothing: at the end of
// the state, if it is known, but not so late that an owner who changes his mind
// is not noticed.
func (w *Worker) ownerRetry() time.Duration {
	if left := w.owner.Until.Sub(w.now); left > 0 {
		return min(left, w.timing.RetryMax)
	}
	return w.timing.RefusalPause
}

func ownerReason(o message.OwnerState) string {
	if o.Reason != "" {
		return o.Reason
	}
	return "the member is " + o.State.String()
}
