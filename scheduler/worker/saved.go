package worker

import (
	"slices"

	"godwit/scheduler/message"
)

// checkpointed keeps the newest checkpoint of a lease, to be reported.
func (w *Worker) checkpointed(ev message.Checkpointed) {
	h := w.held[ev.Task]
	if h == nil || !h.running || h.started != ev.Attempt || !ev.Checkpoint.Valid() {
		return
	}
	if h.saved == nil || h.saved.Fuel < ev.Checkpoint.Fuel {
		h.saved, h.told, w.news.unsaid = &ev.Checkpoint, false, true
	}
}

// nextSaved returns the checkpoints that were never reported or, if again is
// set, the newest of every lease, at most so many: the leader may have missed it.
func (w *Worker) nextSaved(again bool, most int) []message.SavedState {
	if !again && !w.news.unsaid {
		return nil
	}
	w.news.unsaid = false
	var out []message.SavedState
	for _, h := range w.held {
		if h.saved == nil || h.dropped || h.told && !again || len(out) >= most {
			continue
		}
		h.told = true
		out = append(out, message.SavedState{Task: h.task, Attempt: h.attempt, Checkpoint: *h.saved})
	}
	slices.SortFunc(out, func(a, b message.SavedState) int { return a.Attempt.Compare(b.Attempt) })
	return out
}
