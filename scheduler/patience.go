package scheduler

import (
	"fmt"
	"slices"
	"time"

	"godwit/scheduler/learning"
	"godwit/scheduler/leasing"
	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// A placement policy may have patience (place.Traits): a task that takes so many times
// as long as its class is expected to at its member is given up there, as one whose
// end was missed or that the member is far too slow for now, and waits again. The
// member gets nothing of the class for RefusalPause. That it took so long counts as a
// measurement: where all members are slower than was thought, more is expected soon.
//
// It is for tasks that a round placed: those that moved, or were taken up from a
// report, have other times.

// bePatient notes how long a new lease may take, if the policy has patience and
// anything is known of how long it should.
func (d *dispatch) bePatient(l *lease) {
	if d.traits.Patience <= 0 {
		return
	}
	h, k := l.host, l.job.class
	seconds, known := k.Expected(h.peer, h.speed)
	if !known {
		return
	}
	seconds *= k.Scale(l.job.spec.WorkOf(l.task.index))
	if h.load > h.slots { // it waits there
		seconds += d.behind(h, l)
	}
	seconds *= d.traits.Patience
	l.patience = time.Duration(min(seconds*float64(time.Second), float64(task.MaxDuration)))
	if at, ok := d.overdueAt(l); ok {
		d.c.members.alarm(h, at)
	}
}

// behind is how many seconds a host takes for what it was given, but for one lease.
func (d *dispatch) behind(h *host, but *lease) float64 {
	sum := 0.0
	for _, l := range h.leases {
		if l != but && l.is(leasing.Open) {
			seconds, _ := l.job.class.Expected(h.peer, h.speed)
			sum += seconds
		}
	}
	return sum / float64(max(1, h.slots))
}

// overdueAt is when a lease will have taken too long; not ok for never, for one that
// ends or is to move, and while its member's owner has it stand still.
func (d *dispatch) overdueAt(l *lease) (at time.Time, ok bool) {
	if l.patience == 0 || !l.is(leasing.Timed) || !l.host.still.IsZero() {
		return at, false
	}
	return l.start.Add(l.patience + l.host.stoodBy(d.c.now) - l.stoodBefore), true
}

// checkPatience gives a lease up that has taken too long.
func (d *dispatch) checkPatience(l *lease) {
	at, ok := d.overdueAt(l)
	if !ok || d.c.now.Before(at) || !slices.Contains(l.task.leases, l) {
		return
	}
	h, k := l.host, l.job.class
	took := d.c.now.Sub(l.start)
	expected, _ := k.Expected(h.peer, h.speed)
	reason := fmt.Sprintf("it took %v there, and one of its class is expected to take %v", took.Round(time.Millisecond),
		time.Duration(expected*float64(time.Second)).Round(time.Millisecond))
	d.c.learnt.GaveUp(k, h.peer, took, l.job.spec.WorkOf(l.task.index))
	if h.shunned == nil {
		h.shunned = map[*learning.Class]time.Time{}
	}
	h.shunned[k] = d.c.now.Add(d.c.cfg.RefusalPause)
	d.c.outbox.drop(h.peer, l.taskID(), l.attempt, message.DropSuperseded)
	d.c.reports.giveUp(l, ledger.Overdue, reason)
}

// endShunning lets a host have classes again.
func (d *dispatch) endShunning(h *host) {
	for k, until := range h.shunned {
		if !d.c.now.Before(until) {
			delete(h.shunned, k)
			d.c.learnt.Changed()
			d.c.members.touchHost(h)
		}
	}
}
