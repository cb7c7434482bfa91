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
func (m *migration) armTail() {
	if m.mover == nil || m.c.members.given == 0 || m.tailSet {
		return
	}
	m.tailSet = true
	m.c.timers.Set(m.c.now.Add(tailEvery), reminder{tail: true})
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
func (m *migration) tailsIfDue() {
	if m.tailDue {
		m.tailDue = false
		m.lookAtTails()
	}
}

// lookAtTails moves or copies the last tasks of jobs to idle members that are
// much better. Those that gain most go first. What a policy of migration weighs is
// left to that: see weighs.
func (m *migration) lookAtTails() {
	m.tailSet = false
	if m.mover == nil || m.c.term.recovering || m.c.claims.queue.len() > 0 || m.c.members.idle.len() == 0 {
		return
	}
	pairs := m.tailPairs(m.lastTasks(), m.fastIdle())
	slices.SortStableFunc(pairs, func(a, b tailPair) int { return cmp.Compare(b.gain, a.gain) })
	for i := range pairs {
		p := &pairs[i]
		if p.choice == tailCopy && p.task.lease.job.room() == 0 {
			continue
		}
		if !p.task.gone && m.takes(p.to, p.task.lease) {
			p.task.gone = true
			m.carryTail(p)
		}
	}
}

// tailPairs lists the pairs that are worth it. What is expected here and there
// does not change at one look, so that each pair is compared once.
func (m *migration) tailPairs(last []lastTask, idle []*host) (pairs []tailPair) {
	for i := range last {
		t := &last[i]
		here := t.run.here()
		for _, h := range idle {
			if !m.takes(h, t.lease) {
				continue
			}
			there := m.tailHost(h, h.speedNow())
			if choice, gain := t.run.decide(here, &there, t.lease.job.moveCost()); choice != tailStay {
				pairs = append(pairs, tailPair{t, h, there, choice, gain})
			}
		}
	}
	return pairs
}

// lastTasks lists the leases of tails that may be moved or copied, those that
// began first in front.
func (m *migration) lastTasks() []lastTask {
	var leases []*lease
	for _, id := range slices.Sorted(maps.Keys(m.c.table.jobs)) {
		j := m.c.table.jobs[id]
		if !m.inTail(j) {
			continue
		}
		for _, i := range slices.Sorted(maps.Keys(j.live)) {
			t := j.live[i]
			for _, l := range t.leases {
				if m.maySpread(l) && (len(t.leases) == 1 && !t.copied && !j.replicated() || j.replicated() && m.maySend(l)) {
					leases = append(leases, l)
				}
			}
		}
	}
	slices.SortStableFunc(leases, func(a, b *lease) int { return a.start.Compare(b.start) })
	var out []lastTask
	for _, l := range leases {
		work, _ := l.job.workOf(l.task.index)
		if run := m.tailOf(l, work); !m.weighs(l, run.left) {
			out = append(out, lastTask{lease: l, run: run})
		}
		if len(out) == tailMost {
			break
		}
	}
	return out
}

// inTail reports whether nothing of a job waits, and its tasks may be moved or copied.
func (m *migration) inTail(j *job) bool {
	_, known := j.work()
	return known && j.state == jobOpen && !j.hasWaiting() && m.c.table.heldUp(j) == ""
}

// maySpread reports whether a lease runs, or stands still, where it is.
func (m *migration) maySpread(l *lease) bool {
	return l.is(leasing.Spreads) && !m.c.now.Before(l.tries.notBefore)
}

// progressOf is the work that a lease has left, and what it did since the last
// checkpoint that is held elsewhere, of so much in all.
func (m *migration) progressOf(l *lease, work time.Duration) (left, unsaved time.Duration) {
	h := l.host
	done := time.Duration(float64(m.c.now.Sub(l.beganAt())) * h.usual())
	if h.speedNow() == 0 {
		done = min(done, work/2) // for how long it has stood still is not known
	}
	if !l.is(leasing.Runs) {
		done = 0 // it waits there
	}
	var saved time.Duration
	if s := l.heldState(); s != nil {
		saved = time.Duration(float64(s.CPU) * h.usual())
	}
	if l.saved.from != nil {
		done += time.Duration(float64(l.saved.from.CPU) * h.usual())
	}
	done = min(done, work)
	return tailLeft(work, done), max(0, done-saved)
}

// tailOf describes a lease to the rule.
func (m *migration) tailOf(l *lease, work time.Duration) tailTask {
	left, unsaved := m.progressOf(l, work)
	return tailTask{left: left, unsaved: unsaved, at: m.tailHost(l.host, l.host.speedNow()), movable: m.maySend(l)}
}

func (m *migration) tailHost(h *host, speed float64) tailHost {
	return tailHost{speed: speed, stay: func(d time.Duration) float64 {
		if p, known := (foretold{m.c}).Stay(h.peer, m.c.now, d); known {
			return p
		}
		return 1
	}}
}

// fastIdle lists the fastest of the idle members that are not about to go.
func (m *migration) fastIdle() []*host {
	var idle []*host
	for _, h := range m.c.members.idle.all() {
		if !h.notice {
			idle = append(idle, h)
		}
	}
	slices.SortStableFunc(idle, func(a, b *host) int { return cmp.Compare(b.speedNow(), a.speedNow()) })
	return idle[:min(len(idle), tailMost)]
}

// carryTail moves or copies a last task.
func (m *migration) carryTail(t *tailPair) {
	l := t.task.lease
	why := tailReason(&t.task.run, &t.there, t.gain)
	if t.choice == tailMove {
		m.c.transfers.beginMove(leaving{lease: l, why: inWords(why), there: "the idle member where it should end first",
			to: t.to})
		return
	}
	m.c.term.seq++
	reason := task.ClipMessage("a copy, of which the first result counts: " + why)
	l.task.copied = true
	o := m.c.addLease(l.job, t.to, l.task.index, message.Attempt{Epoch: m.c.term.epoch, Seq: m.c.term.seq}, reason, nil)
	m.c.post(o)
	m.c.decided(o.taskID(), "copied", t.to.peer, reason)
}
