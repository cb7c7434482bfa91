package scheduler

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"godwit/scheduler/leasing"
	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// Which leases give their slots back: see recalling.go.

// takeBack has up to so many slots given back, for those who had the least first.
func (r *recalling) takeBack(most int) {
	r.under = slices.DeleteFunc(r.under, func(u recalled) bool { return !u.lease.is(leasing.Moves) })
	most -= len(r.under)
	var short []*want
	for k := range r.wants {
		w := &r.wants[k]
		if at := w.account.short; !at.IsZero() && r.d.c.now.Sub(at) >= recallAfter && !r.finds(w.job) {
			short = append(short, w)
		}
	}
	slices.SortStableFunc(short, func(a, b *want) int { return cmp.Compare(a.account.used, b.account.used) })
	for _, w := range short {
		lacks := w.lacks()
		for _, u := range r.under {
			if u.by == w.account {
				lacks--
			}
		}
		for first := w.running == 0; lacks > 0 && most > 0; lacks, most, first = lacks-1, most-1, false {
			from, l := r.victim(w, first)
			if l == nil {
				break
			}
			if r.take(l, from, w); first {
				w.account.short = r.d.c.now // it may run short tasks there, between looks
			}
		}
	}
}

// finds reports whether an idle host would take a task of the job.
func (r *recalling) finds(j *job) bool {
	return slices.ContainsFunc(r.d.c.members.idle.all(), func(h *host) bool { return h.suits(j) })
}

// victim chooses a lease whose slot somebody is to have, and returns of whom it is: of a
// submitter that nobody has heard, else of one that has more than its share, and for the
// first slot of one that has none of whoever had most so far.
func (r *recalling) victim(w *want, first bool) (*want, *lease) {
	unheard := func(g *want) (by float64, ok bool) { return float64(g.running), !g.account.heard }
	over := func(g *want) (by float64, ok bool) {
		by = float64(g.running) - g.due
		return by, g.account.heard && by > 0 && g.running >= w.running+2
	}
	longest := func(g *want) (by float64, ok bool) {
		return g.account.used, g.account.heard && g.account.used > w.account.used
	}
	if g, l := r.most(w, unheard, anyLease); l != nil {
		return g, l
	}
	if !first {
		return r.most(w, over, patientLease)
	}
	if g, l := r.most(w, over, anyLease); l != nil {
		return g, l
	}
	return r.most(w, longest, turnLease)
}

// Which leases a submitter may be made to give back.
const (
	anyLease     = iota
	patientLease // what cannot be saved only after a while: see turnOf
	turnLease    // the same, and what can be saved when it has run for a while, too
)

// most returns the claimant with most by some measure that has a lease of that kind where the
// other's job could run, and its newest.
func (r *recalling) most(w *want, by func(*want) (float64, bool), kind int) (from *want, l *lease) {
	without := map[*want]bool{w: true}
	for {
		best := 0.0
		from = nil
		for k := range r.wants {
			g := &r.wants[k]
			if without[g] || len(g.leases) == 0 {
				continue
			}
			if n, ok := by(g); ok && (from == nil || n > best) {
				from, best = g, n
			}
		}
		if from == nil {
			return nil, nil
		}
		if l = r.newest(from, w.job, kind); l != nil {
			return from, l
		}
		without[from] = true
	}
}

// newest returns the lease of a claimant that has run for the shortest time, of those whose
// state can be saved if there are some.
func (r *recalling) newest(g *want, j *job, kind int) *lease {
	if !g.sorted {
		g.sorted = true
		slices.SortStableFunc(g.leases, func(a, b *lease) int { return b.start.Compare(a.start) })
	}
	var second *lease
	for _, l := range g.leases {
		if h := l.host; !l.is(leasing.Settled) || !h.eligible() || !h.suits(j) || !l.start.Before(r.d.c.now) {
			continue
		}
		ran := r.d.c.now.Sub(l.start)
		switch {
		case r.d.c.migration.mayMove(l):
			if kind != turnLease || ran >= recallAfter {
				return l
			}
		case second == nil && (kind == anyLease || ran >= turnOf(l.job)):
			second = l
		}
	}
	return second
}

// turnOf is how long a task of the job that cannot be saved runs before it is stopped for
// others: twice as long each time.
func turnOf(j *job) time.Duration { return recallAfter << min(j.stopped, maxLonger) }

// take has a lease's slot given back for somebody who waits.
func (r *recalling) take(l *lease, from, to *want) {
	d, h := r.d, l.host
	why := fmt.Sprintf("its submitter has %d of %d slots, its share is %.3g, and another has waited with %d for %v",
		from.running, d.c.claims.fair.all.slots, from.due, to.running, d.c.now.Sub(to.account.short).Round(time.Second))
	from.running--
	from.leases = slices.DeleteFunc(from.leases, func(o *lease) bool { return o == l })
	if d.c.migration.mayMove(l) {
		d.giveBack(l, why)
		r.under = append(r.under, recalled{l, to.account})
		return
	}
	l.job.stopped++
	d.c.members.pauseJob(h, l.job, d.c.cfg.RefusalPause,
		"a task of the job has just made room there for another submitter's")
	d.clearAhead(h)
	d.c.outbox.drop(h.peer, l.taskID(), l.attempt, message.DropSuperseded)
	d.c.reports.giveUp(l, ledger.Recalled, task.ClipMessage(why))
}
