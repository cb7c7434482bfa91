package sim

import (
	"time"

	"godwit/trace"
)

// A task that runs moves as a live one does: its state is copied while it runs
// on, and a place is kept for it where it goes; then it stands still for what
// changed meanwhile, for the word that it is there, and for the word to go on.

// deltaPart is the part of a state that changed while it was copied and goes
// while the task stands still: 1 %, what guests are taken to write in a second.
const deltaPart = 100

// handOverTrips is how often a message goes one way while a task stands still:
// two round trips, to freeze and to resume.
const handOverTrips = 4

// handOver is how long a task that moves stands still.
func (r *rules) handOver(state int64) time.Duration {
	if r.paper {
		return 0
	}
	return (handOverTrips-1)*r.network.Delay + time.Duration(r.transfer(state/deltaPart))
}

// copy sends a task's state ahead while it runs; reason is for when it moves.
func (w *world) copy(k, to int32, reason string) {
	t, h := &w.tasks.slots[k], &w.hosts[to]
	t.to, t.toward = to, h.epoch
	w.book(t, to, h)
	t.copied = w.now + int64(w.transfer(t.state))
	if w.watch != nil {
		if w.reasons == nil {
			w.reasons = map[uint64]string{}
		}
		w.reasons[t.id] = reason
	}
	w.push(t.copied, phaseArrivals, onCopied, k)
}

// copied is when a task's state is where it goes. If that host takes it still,
// and it still runs, it moves; else it goes on where it is.
func (w *world) copied(k int32) {
	t := &w.tasks.slots[k]
	if t.status == taskFree || t.to == none || t.copied != w.now {
		return // it was abandoned
	}
	h, to := &w.hosts[t.host], t.to
	d := &w.hosts[to]
	if t.status != taskRunning || !w.runs(h) || d.epoch != t.toward || d.state != trace.Available {
		w.abandon(t)
		return
	}
	t.to = none
	d.load--
	d.memory -= t.memory // shift books it again
	w.shift(k, t.host, to, w.reasons[t.id])
}
