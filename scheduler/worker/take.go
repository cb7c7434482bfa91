package worker

import (
	"time"

	"godwit/scheduler/message"
	"godwit/task"
)

// take queues a lease that is new here, of a job with that key, empty for none.
func (w *Worker) take(l *message.Lease, holders []task.PeerID, key []byte) {
	j := w.jobs.of(l.Task.Job, holders, key, &w.effects)
	h := &heldLease{task: l.Task, attempt: l.Attempt, job: j, from: l.From, left: l.Left, holders: holders,
		await: l.Await, taken: w.now, terms: terms{l.Receipt, l.Reads}}
	if l.Await != nil {
		h.after = l.Await.Attempt
	}
	j.leases++
	w.held[l.Task] = h
	w.queue.add(h)
}

// giveBack refuses a lease that has not started.
func (w *Worker) giveBack(h *heldLease, reason string, retry time.Duration) {
	if h.ready {
		w.unready(h)
		h.undo = &undo{reason: reason, retry: retry}
		return
	}
	w.queue.remove(h)
	w.forget(h)
	w.news.refuse(h.task, h.attempt, reason, retry)
}

// forget takes a lease out of held.
func (w *Worker) forget(h *heldLease) {
	delete(w.held, h.task)
	h.job.leases--
	w.jobs.without(h.job, w.now, &w.effects)
}
