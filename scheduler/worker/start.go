package worker

import (
	"slices"

	"godwit/scheduler/message"
	"godwit/task"
)

// prepared lets the job's leases start, or gives them back: those of a sealed job without its
// key, too.
func (w *Worker) prepared(ev message.Prepared) {
	j := w.jobs.known[ev.ID]
	if j == nil || j.spec != nil {
		return
	}
	if ev.Err == "" && ev.Job != nil {
		if err := ev.Job.CheckKey(j.key); err != nil {
			ev.Err = err.Error()
			w.emit(message.Release{Job: j.id})
		}
	}
	if ev.Err == "" && ev.Job != nil {
		j.spec, j.submitter = ev.Job, ev.Submitter
		w.jobs.idleSince(j, w.now)
		return
	}
	delete(w.jobs.known, j.id)
	for _, h := range slices.Clone(w.queue) {
		if h.job == j {
			w.giveBack(h, "preparing the job failed: "+ev.Err, w.timing.RefusalPause)
		}
	}
}

// startQueued starts what slots and memory allow, oldest attempt first. A job
// that is still being prepared does not hold up another.
func (w *Worker) startQueued() {
	if reason := w.results.tooMany(w.cfg.MaxUnackedBytes); reason != "" {
		for _, h := range slices.Clone(w.queue) {
			w.giveBack(h, reason, w.timing.RefusalPause)
		}
		return
	}
	kept := w.queue[:0]
	for _, h := range w.queue {
		if w.running >= w.owner.Slots || !w.startable(h) || h.undone() {
			kept = append(kept, h)
			continue
		}
		if h.ready {
			w.begin(h)
			continue
		}
		h.running, h.started = true, h.attempt
		w.running++
		w.memory += h.memory()
		if a := h.await; a != nil {
			h.expected = true
			w.emit(message.Expect{Task: h.task, Attempt: h.attempt, From: a.Worker, FromAttempt: a.Attempt, Holders: h.holders,
				Left: h.left, Receipt: h.receipt, Reads: h.reads})
			continue
		}
		h.begun = w.now
		w.emit(h.start())
	}
	clear(w.queue[len(kept):])
	w.queue = kept
	w.haveReady()
}

// start begins an attempt from what its lease names.
func (h *heldLease) start() message.Start {
	return message.Start{Task: h.task, Attempt: h.attempt, From: h.from, Holders: h.holders, Left: h.left,
		Receipt: h.receipt, Reads: h.reads}
}

func (w *Worker) startable(h *heldLease) bool {
	return h.job.spec != nil && (w.owner.Memory == 0 || w.memory+h.memory() <= w.owner.Memory)
}

// memory is what the task of a lease may have, in bytes. The lease's job is known.
func (h *heldLease) memory() int64 { return h.job.spec.MemoryOf(h.task.Index) }

// ended takes the result of a started attempt and reports it.
func (w *Worker) ended(ev message.Ended) {
	if ev.Then != nil {
		w.runs(ev.Then.Task, ev.Then.Attempt)
	}
	h := w.runs(ev.Task, ev.Attempt)
	if h == nil {
		return
	}
	w.running--
	w.memory -= h.memory()
	w.forget(h)
	if h.dropped && ev.Result.Outcome != task.Completed {
		w.news.urgent = true // its slot is free
		return
	}
	u := newUnacked(message.Ending{Attempt: h.attempt, Result: ev.Result, Handed: h.handedOver(&ev)}, w.now)
	u.taken, u.begun, u.submitter = h.taken, h.begun, h.job.submitter
	if ev.Result.Outcome != task.Completed && u.ending.Handed == nil {
		u.saved, u.took = h.newest(), h.saved
	}
	w.results.add(u)
	w.news.mayWait(u, w.now, w.cfg.TellWithin)
}
