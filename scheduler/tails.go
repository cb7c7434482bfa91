package scheduler

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"godwit/scheduler/leasing"
	"godwit/scheduler/message"
	"godwit/task"
)

const (
	// tailEvery is how often the tails of jobs are looked at: twice as long as a
	// worker takes to say how it stands.
	tailEvery = 5 * time.Second
	// tailMost bounds the last tasks, and the idle members, that are compared at one
	// look: all pairs of them, once. With 16 that is at most 272 forecasts, less than
	// a millisecond; the next look goes on.
	tailMost = 16
	// moveGuess is what a hand-over is taken to cost before one was measured: the
	// time of 64 MiB, a usual guest, at 50 Mbit/s.
	moveGuess = 11 * time.Second
)

// armTail sets the time of the next look, while any task runs and the overlay's
// rules let tasks move.
func (q *migration) armTail() {
	if q.mover == nil || q.c.members.given == 0 || q.tailSet {
		return
	}
	q.tailSet = true
	q.c.timers.Set(q.c.now.Add(tailEvery), reminder{tail: true})
}

// A lastTask is a lease of a job's tail.
type lastTask struct {
	lease *lease
	run   tailTask
	gone  bool // it was moved or copied at this look
}

// A tailPair is what a last task could gain at an idle member.
type tailPair struct {
	task   *lastTask
	to     *host
	there  tailHost
	choice tailChoice
	gain   time.Duration
}

// tailsIfDue looks at tails when the time has come.
func (q *migration) tailsIfDue() {
	if q.tailDue {
		q.tailDue = false
		q.lookAtTails()
	}
}

// lookAtTails moves or copies the last tasks of jobs to idle members that are
// much better. Those that gain most go first. What a policy of migration weighs is
// left to that: see weighs.
func (q *migration) lookAtTails() {
	q.tailSet = false
	if q.mover == nil || q.c.term.recovering || q.c.claims.queue.len() > 0 || q.c.members.idle.len() == 0 {
		return
	}
	pairs := q.tailPairs(q.lastTasks(), q.fastIdle())
	slices.SortStableFunc(pairs, func(a, b tailPair) int { return cmp.Compare(b.gain, a.gain) })
	for i := range pairs {
		if p := &pairs[i]; !p.task.gone && q.takes(p.to, p.task.lease) {
			p.task.gone = true
			q.carryTail(p)
		}
	}
}

// tailPairs lists the pairs that are worth it. What is expected here and there
// does not change at one look, so that each pair is compared once.
func (q *migration) tailPairs(last []lastTask, idle []*host) (pairs []tailPair) {
	for i := range last {
		t := &last[i]
		here := t.run.here()
		for _, h := range idle {
			if !q.takes(h, t.lease) {
				continue
			}
			there := q.tailHost(h, h.speedNow())
			if choice, gain := t.run.decide(here, &there, t.lease.job.moveCost()); choice != tailStay {
				pairs = append(pairs, tailPair{t, h, there, choice, gain})
			}
		}
	}
	return pairs
}

// lastTasks lists the leases of tails that may be moved or copied, those that
// began first in front.
func (q *migration) lastTasks() []lastTask {
	var leases []*lease
	for _, id := range slices.Sorted(maps.Keys(q.c.table.jobs)) {
		j := q.c.table.jobs[id]
		if !q.inTail(j) {
			continue
		}
		for _, i := range slices.Sorted(maps.Keys(j.live)) {
			t := j.live[i]
			if l := t.leases[0]; len(t.leases) == 1 && !t.copied && q.maySpread(l) {
				leases = append(leases, l)
			}
		}
	}
	slices.SortStableFunc(leases, func(a, b *lease) int { return a.start.Compare(b.start) })
	var out []lastTask
	for _, l := range leases {
		work, _ := l.job.work()
		if run := q.tailOf(l, work); !q.weighs(l, run.left) {
			out = append(out, lastTask{lease: l, run: run})
		}
		if len(out) == tailMost {
			break
		}
	}
	return out
}

// inTail reports whether nothing of a job waits, and its tasks may be moved or copied.
func (q *migration) inTail(j *job) bool {
	_, known := j.work()
	return known && j.state == jobOpen && !j.hasWaiting() && j.spec.Replicas <= 1 && q.c.table.heldUp(j) == ""
}

// maySpread reports whether a lease runs, or stands still, where it is.
func (q *migration) maySpread(l *lease) bool {
	return l.is(leasing.Spreads) && !q.c.now.Before(l.tries.notBefore)
}

// progressOf is the work that a lease has left, and what it did since the last
// checkpoint that is held elsewhere, of so much in all.
func (q *migration) progressOf(l *lease, work time.Duration) (left, unsaved time.Duration) {
	h := l.host
	done := time.Duration(float64(q.c.now.Sub(l.start)) * h.usual())
	if h.speedNow() == 0 {
		done = min(done, work/2) // for how long it has stood still is not known
	}
	if !l.is(leasing.Runs) {
		done = 0 // it waits there
	}
	var saved time.Duration
	if row := l.job.ledger.Rows[l.task.index]; row != nil && row.Best != nil {
		saved = time.Duration(float64(row.Best.CPU) * h.usual())
	}
	if l.saved.from != nil {
		done += time.Duration(float64(l.saved.from.CPU) * h.usual())
	}
	done = min(done, work)
	return tailLeft(work, done), max(0, done-saved)
}

// tailOf describes a lease to the rule.
func (q *migration) tailOf(l *lease, work time.Duration) tailTask {
	left, unsaved := q.progressOf(l, work)
	return tailTask{left: left, unsaved: unsaved, at: q.tailHost(l.host, l.host.speedNow()), movable: q.maySend(l)}
}

func (q *migration) tailHost(h *host, speed float64) tailHost {
	return tailHost{speed: speed, stay: func(d time.Duration) float64 {
		if p, known := (foretold{q.c}).Stay(h.peer, q.c.now, d); known {
			return p
		}
		return 1
	}}
}

// fastIdle lists the fastest of the idle members that are not about to go.
func (q *migration) fastIdle() []*host {
	var idle []*host
	for _, h := range q.c.members.idle.all() {
		if !h.notice {
			idle = append(idle, h)
		}
	}
	slices.SortStableFunc(idle, func(a, b *host) int { return cmp.Compare(b.speedNow(), a.speedNow()) })
	return idle[:min(len(idle), tailMost)]
}

// carryTail moves or copies a last task.
func (q *migration) carryTail(t *tailPair) {
	l := t.task.lease
	why := tailReason(&t.task.run, &t.there, t.gain)
	if t.choice == tailMove {
		q.c.transfers.beginMove(leaving{lease: l, why: inWords(why), there: "the idle member where it should end first",
			to: t.to})
		return
	}
	q.c.term.seq++
	reason := task.ClipMessage("a copy, of which the first result counts: " + why)
	l.task.copied = true
	o := q.c.addLease(l.job, t.to, l.task.index, message.Attempt{Epoch: q.c.term.epoch, Seq: q.c.term.seq}, reason, nil)
	q.c.post(o)
	q.c.decided(o.taskID(), "copied", t.to.peer, reason)
}
