package worker

import (
	"slices"

	"godwit/scheduler/message"
)

// maxTold bounds the checkpoints that one report names: with who vouches for it each has about
// 600 bytes, and what the worker holds takes as much of the frame. The next report has others.
const maxTold = message.MaxSaved / 4

// checkpointed keeps the newest checkpoint of a lease, to be reported.
func (w *Worker) checkpointed(ev message.Checkpointed) {
	h := w.runs(ev.Task, ev.Attempt)
	if h == nil || !ev.Checkpoint.Valid() {
		return
	}
	h.marks.add(ev.Marks)
	if h.saved == nil || h.saved.Fuel < ev.Checkpoint.Fuel {
		h.saved, h.told, w.news.unsaid = &ev.Checkpoint, false, true
	}
}

// stateBad notes that a lease began anew, for nobody can go on from its state, and tells the
// leader at once.
func (w *Worker) stateBad(ev message.StateBad) {
	h := w.runs(ev.Task, ev.Attempt)
	if h == nil || h.from == nil || h.from.CID != ev.Word.Receipt.From {
		return
	}
	h.bad, h.from, w.news.urgent = &ev.Word, nil, true
}

// nextSaved returns the checkpoints that were never reported or, if again is
// set, the newest of every lease, at most so many: the leader may have missed it.
func (w *Worker) nextSaved(again bool, most int) []message.SavedState {
	if !again && !w.news.unsaid {
		return nil
	}
	w.news.unsaid = false
	var out []message.SavedState
	if most <= 0 || len(w.held) == 0 {
		return nil
	}
	for _, h := range w.held {
		if h.saved == nil || h.dropped || h.told && !again || len(out) >= most {
			continue
		}
		h.told = true
		out = append(out, message.SavedState{Task: h.task, Attempt: h.attempt, Checkpoint: *h.saved,
			Marks: h.marks.next(again)})
	}
	slices.SortFunc(out, func(a, b message.SavedState) int { return a.Attempt.Compare(b.Attempt) })
	return out
}
