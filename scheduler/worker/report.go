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
	if !w.news.greeted || len(w.held) > 0 || len(w.results.all) > 0 {
		every = w.timing.ReportEvery
	}
	return w.news.reported.Add(every)
}

// ReportedAt returns when the last full report was sent; zero for never.
func (w *Worker) ReportedAt() time.Time { return w.news.reported }

// report sends what there is to say: new results and refusals at once, and
// everything held when it is due.
func (w *Worker) report() {
	if w.leader == "" {
		return
	}
	full := w.news.urgent || !w.now.Before(w.nextReport())
	if !full && w.holdsBack() {
		return
	}
	w.news.untold, w.news.toTell = 0, time.Time{}
	for first := true; ; first = false {
		ended, saved := w.results.next(w.now, full, w.timing.ReportEvery)
		if first {
			saved = append(saved, w.nextSaved(full, maxTold-len(saved))...)
		}
		if full && first {
			saved = append(saved, w.orphans.next(w.now, maxTold-len(saved))...)
		}
		unmoved := w.news.nextUnmoved()
		if len(ended) == 0 && len(saved) == 0 && len(w.news.refusals) == 0 && len(unmoved) == 0 && !(full && first) {
			return
		}
		r := &message.Report{Epoch: w.epoch, Slots: w.owner.Slots, State: uint8(w.owner.State), Ended: ended,
			Refused: w.news.refusals, Born: w.born, Saved: saved, Withheld: w.owner.Withheld, Hands: w.cfg.HandOver,
			Unmoved: unmoved}
		w.news.refusals = nil
		if full && first {
			r.Full, r.Held = true, w.everything(ended)
			w.news.urgent, w.news.reported = false, w.now
		}
		w.emit(message.Send{To: w.leader, Message: message.Message{Report: r}})
	}
}

// holdsBack says whether the results that have not been told may wait for more: while
// one comes after the other, every slot is busy, and more tasks wait here than there are
// results to tell. A lone one, and the last, are told at once.
func (w *Worker) holdsBack() bool {
	return w.news.untold > 0 && w.now.Before(w.news.toTell) && w.news.untold < min(len(w.queue), message.MaxEndings) &&
		w.running >= w.owner.Slots && len(w.news.refusals) == 0 && !w.news.unsaid
}

// everything lists what the worker has, sorted. Results that wait for their
// acknowledgement and are not in this report count as held: they are not lost.
func (w *Worker) everything(reporting []message.Ending) []message.Held {
	held := make([]message.Held, 0, len(w.held)+len(w.results.all))
	for _, h := range w.held {
		if !h.dropped {
			held = append(held, h.tell(w.epoch))
		}
	}
	var told map[task.TaskID]bool
	if len(w.results.all) > 0 {
		told = make(map[task.TaskID]bool, len(reporting))
		for i := range reporting {
			told[reporting[i].Result.Task] = true
		}
	}
	for _, u := range w.results.all {
		if id := u.ending.Result.Task; !told[id] && w.held[id] == nil {
			held = append(held, message.Held{Task: id, Attempt: u.ending.Attempt, Running: true,
				Receipt: u.ending.Result.Receipt})
		}
	}
	if len(held) > 1 {
		sortHeld(held)
	}
	return held
}

// sortHeld sorts what a report has, in place.
func sortHeld(held []message.Held) {
	slices.SortFunc(held, func(a, b message.Held) int {
		return cmp.Or(a.Attempt.Compare(b.Attempt), cmp.Compare(a.Task.Job, b.Task.Job),
			cmp.Compare(a.Task.Index, b.Task.Index))
	})
}
