package worker

import (
	"cmp"
	"slices"
	"time"

	"godwit/scheduler/message"
	"godwit/task"
)

// nextReport returns when the next full report is due. A worker that holds
// something, or that its leader has not answered yet, reports more often.
func (w *Worker) nextReport() time.Time {
	every := w.cfg.IdleReportEvery
	if !w.greeted || len(w.held) > 0 || len(w.endings) > 0 {
		every = w.timing.ReportEvery
	}
	return w.reported.Add(every)
}

// report sends what there is to say: new results and refusals at once, and
// everything held when it is due.
func (w *Worker) report() {
	if w.leader == "" {
		return
	}
	full := w.urgent || !w.now.Before(w.nextReport())
	if !full && w.holdsBack() {
		return
	}
	w.untold, w.toTell = 0, time.Time{}
	for first := true; ; first = false {
		ended, saved := w.nextEndings(full)
		if first {
			saved = append(saved, w.nextSaved(full, message.MaxSaved-len(saved))...)
		}
		if full && first {
			saved = append(saved, w.nextArrived(message.MaxSaved-len(saved))...)
		}
		unmoved := w.nextUnmoved()
		if len(ended) == 0 && len(saved) == 0 && len(w.refusals) == 0 && len(unmoved) == 0 && !(full && first) {
			return
		}
		r := &message.Report{Epoch: w.epoch, Slots: w.owner.Slots, State: uint8(w.owner.State), Ended: ended,
			Refused: w.refusals, Born: w.born, Saved: saved, Withheld: w.owner.Withheld, Hands: w.cfg.HandOver, Unmoved: unmoved}
		w.refusals = nil
		if full && first {
			r.Full, r.Held = true, w.everything(ended)
			w.urgent, w.reported = false, w.now
		}
		w.emit(message.Send{To: w.leader, Message: message.Message{Report: r}})
	}
}

// holdsBack says whether the results that have not been told may wait for more: while
// one comes after the other, every slot is busy, and more tasks wait here than there are
// results to tell. A lone one, and the last, are told at once.
func (w *Worker) holdsBack() bool {
	return w.untold > 0 && w.now.Before(w.toTell) && w.untold < min(len(w.queue), message.MaxEndings) &&
		w.running >= w.owner.Slots && len(w.refusals) == 0 && !w.unsaid
}

// mayWait notes a new result, and until when it may be held back.
func (w *Worker) mayWait(u *unacked) {
	if w.untold++; w.untold > 1 && w.toTell.IsZero() {
		return // one before it may not wait
	}
	plain := u.ending.Result.Outcome == task.Completed && u.ending.Handed == nil && u.took == nil
	switch brisk := w.now.Before(w.lastEnd.Add(w.cfg.TellWithin)); {
	case !plain || !brisk:
		w.toTell = time.Time{}
	case w.untold == 1:
		w.toTell = w.now.Add(w.cfg.TellWithin)
	}
	w.lastEnd = w.now
}

// nextEndings returns a batch of results that were never sent or, if again is
// set, that were sent so long ago that the answer must be lost. saved are the
// checkpoints that those attempts stopped at: their tasks go on from there.
func (w *Worker) nextEndings(again bool) (batch []message.Ending, saved []message.SavedState) {
	size := 0
	// New results are last, after those that only wait for their answer; a
	// look at the last one tells whether there are any.
	if n := len(w.endings); n == 0 || !again && !w.endings[n-1].sent.IsZero() {
		return nil, nil
	}
	for _, u := range w.endings {
		if !u.sent.IsZero() && !(again && !w.now.Before(u.sent.Add(w.timing.ReportEvery))) {
			continue
		}
		size += message.ResultBytes(&u.ending.Result)
		if len(batch) == message.MaxEndings || len(batch) > 0 && size > message.BatchBytes {
			break
		}
		batch = append(batch, u.tell(w.now))
		if u.took != nil {
			saved = append(saved, message.SavedState{Task: u.ending.Result.Task, Attempt: u.ending.Attempt, Checkpoint: *u.took})
		}
		u.sent = w.now
	}
	return batch, saved
}

// everything lists what the worker has, sorted. Results that wait for their
// acknowledgement and are not in this report count as held: they are not lost.
func (w *Worker) everything(reporting []message.Ending) []message.Held {
	held := make([]message.Held, 0, len(w.held)+len(w.endings))
	for _, h := range w.held {
		if !h.dropped {
			held = append(held, h.tell())
		}
	}
	told := make(map[task.TaskID]bool, len(reporting))
	for i := range reporting {
		told[reporting[i].Result.Task] = true
	}
	for _, u := range w.endings {
		if id := u.ending.Result.Task; !told[id] && w.held[id] == nil {
			held = append(held, message.Held{Task: id, Attempt: u.ending.Attempt, Running: true})
		}
	}
	slices.SortFunc(held, func(a, b message.Held) int {
		return cmp.Or(a.Attempt.Compare(b.Attempt), cmp.Compare(a.Task.Job, b.Task.Job),
			cmp.Compare(a.Task.Index, b.Task.Index))
	})
	return held
}

// tell is what a report says of a lease that has not ended.
func (h *heldLease) tell() message.Held {
	t := message.Held{Task: h.task, Attempt: h.attempt, Running: h.running && !h.expected, Fixed: h.fixed,
		Awaiting: h.await != nil, After: h.after}
	if h.going != nil {
		t.Moving = h.going.As
	}
	return t
}

// ReportedAt returns when the last full report was sent; zero for never.
func (w *Worker) ReportedAt() time.Time { return w.reported }

// tell is a result as a report has it that is sent now.
func (u *unacked) tell(now time.Time) message.Ending {
	e := u.ending
	e.Begun = nil
	if !u.begun.IsZero() {
		e.Begun = &message.Begun{
			Queued: min(max(0, u.begun.Sub(u.taken)), task.MaxDuration),
			Ago:    min(max(0, now.Sub(u.begun)), task.MaxDuration),
		}
	}
	return e
}
