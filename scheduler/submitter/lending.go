package submitter

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// Who is lent how much, and when it is taken back.

// lendMore lends tasks that wait at the home to cells that have room.
//
// How many is weighted factoring: of R that wait and P slots in all, a cell of w slots gets
// w R/(2P) (Hummel, Schmidt, Uma and Wein, "Load-sharing in heterogeneous systems via
// weighted factoring", SPAA 1996). The home takes its own half batch by batch without being
// asked. A cell counts with the slots that it says are idle and those that run tasks of
// this job, halved for each time that it kept tasks and did nothing.
func (ln *lender) lendMore(j *submitted) {
	s := ln.s
	if j.lending == nil || !s.mayDelegate(j) || !j.lending.known || j.lending.waits == 0 || !j.state.Accepted ||
		j.ended(s.now) || j.state.Final || j.state.Ending {
		return
	}
	total, unproven := float64(s.cells.own), 0.
	room := make([]float64, len(s.cells.others))
	for i, c := range s.cells.others {
		room[i] = s.roomOf(j, c)
		if total += room[i]; !j.lending.loans[c.Leader].proven() {
			unproven += room[i]
		}
	}
	own := uint64(max(0, s.cells.idle)) // the home takes as many at once
	waits, lent := float64(j.lending.waits-min(j.lending.waits, own)), false
	if waits == 0 {
		return
	}
	for i, c := range s.cells.others {
		n := uint64(math.Ceil(waits * room[i] / (2 * total)))
		n = s.lendTo(j, c, room[i], min(n, s.allowance(j, c.Leader, room[i]/unproven)))
		if n == 0 {
			continue
		}
		lent = true
		s.emit(message.Decided{Task: task.TaskID{Job: j.id}, Action: "lent", Peer: c.Leader,
			Reason: fmt.Sprintf("%d tasks to cell %s, of %.0f that wait: it has room for %.0f of %.0f", n, c.Cell, waits,
				room[i], total)})
	}
	if lent {
		s.got(j) // the home is to leave them
	}
}

// mayDelegate reports whether tasks of a job may go to other cells. This node has no evidence of the members of another
// cell, so their results never count as replicas.
func (ln *lender) mayDelegate(j *submitted) bool {
	return j.staged == nil && (!ln.s.cfg.Receipts || j.spec.Replicas <= 1)
}

// proven reports whether results of a loan have been accepted. l may be nil.
func (l *loan) proven() bool { return l != nil && l.state.Came > 0 }

// allowance is the number of tasks that a borrower may get in addition: without results so far, share of what all such
// borrowers have together, halved for each time that it kept tasks and did nothing, and no more than is left.
func (ln *lender) allowance(j *submitted, borrower task.PeerID, share float64) uint64 {
	l := j.lending.loans[borrower]
	if l.proven() {
		return math.MaxUint64
	}
	most, all := max(1, j.total/ln.s.cfg.UnprovenPart), uint64(0)
	for _, other := range j.lending.loans {
		if !other.proven() {
			all += other.tasks().Count()
		}
	}
	own := uint64(math.Ceil(math.Ldexp(share*float64(most), -ln.s.cells.credits[borrower])))
	if l != nil {
		own -= min(own, l.tasks().Count())
	}
	return min(own, most-min(most, all))
}

// lendTo lends a cell so many of the tasks that wait, if it has fewer than it has room for, and
// returns how many.
func (ln *lender) lendTo(j *submitted, c message.CellLoad, room float64, n uint64) uint64 {
	s := ln.s
	l := j.lending.loans[c.Leader]
	if j.checks != nil && j.checks.sources.refuses(c.Leader) {
		return 0
	}
	if room <= 0 || l != nil && (float64(l.tasks().Count()) >= room || s.now.Before(l.rests)) {
		return 0
	}
	more := j.last(min(n, j.lending.waits))
	n = more.Count()
	if n == 0 || j.nextDelivery() >= ledger.MaxDelivery {
		return 0
	}
	if l != nil {
		if more.Union(l.tasks()); len(more) > ledger.MaxRanges/2 {
			return 0
		}
		n = more.Count() - l.tasks().Count()
	}
	if l = j.borrower(c.Leader); len(l.tasks()) == 0 {
		l.heard, l.answered, l.moved = s.now, s.now, s.now
	}
	s.give(j, c, l, more)
	j.lending.waits -= min(j.lending.waits, n)
	return n
}

// mostRoom is how many times the slots of the own cell another counts with at most. Cells of a level are
// alike within some hundredths, and two halves, where one has the fewest members that it may and the other
// the most, differ by four. Without it who says that it has millions takes half of each job, however often
// that is halved.
const mostRoom = 4

// roomOf is how many slots a cell has for a job.
func (ln *lender) roomOf(j *submitted, c message.CellLoad) float64 {
	s := ln.s
	runs := 0
	if l := j.lending.loans[c.Leader]; l != nil {
		runs = min(l.runs, int(min(l.tasks().Count(), math.MaxInt32)))
	}
	return math.Ldexp(float64(min(c.Idle+runs, c.Slots, mostRoom*max(1, s.cells.own))), -s.cells.credits[c.Leader])
}

// last returns the last n tasks that are neither held nor lent: the home begins with the first.
func (j *submitted) last(n uint64) ledger.Set {
	return lastOf(ledger.Set{{From: 0, To: j.total}}.Minus(j.told()).Minus(j.have), n)
}

func lastOf(set ledger.Set, n uint64) (out ledger.Set) {
	for k := len(set) - 1; k >= 0 && n > 0; k-- {
		r := set[k]
		r.From = max(r.From, r.To-min(n, r.To))
		n -= r.To - r.From
		out.AddRange(r)
	}
	return out
}

// tend looks at the loans of a job.
func (ln *lender) tend(j *submitted) {
	s := ln.s
	if j == nil || j.lending == nil || j.state.Final {
		return
	}
	j.lending.looks = false
	out := false
	for _, peer := range slices.Sorted(maps.Keys(j.lending.loans)) {
		l := j.lending.loans[peer]
		l.wake(s.now)
		if !l.told {
			s.tellBorrower(j, peer, l)
		}
		switch {
		case len(l.tasks()) == 0:
			continue
		case s.now.Sub(l.answered) >= lendSilence:
			s.fail(peer)
			for _, before := range l.state.Before {
				s.fail(before)
			}
			l.rests = s.now.Add(lendSilence << s.cells.credits[peer])
			s.takeBack(j, peer, fmt.Sprintf("the cell's leader has said nothing for %v", lendSilence))
			continue
		case s.now.Sub(l.moved) >= j.stalls():
			s.fail(peer)
			l.rests = s.now.Add(lendRest << s.cells.credits[peer])
			s.takeBack(j, peer, fmt.Sprintf("nothing came of them for %v", j.stalls()))
			continue
		case !s.now.Before(l.next):
			s.askBorrower(j, peer, l)
		}
		out = true
	}
	s.lendMore(j)
	s.recall(j)
	if out {
		s.lookAt(j)
	}
}

// recall takes back half of what each borrower has not begun when the home has slots and
// nothing waits there: the end of a job is not to wait for the slowest cell. A borrower
// begins with the first of its tasks, so it is the last that come back.
func (ln *lender) recall(j *submitted) {
	s := ln.s
	if !j.lending.known || j.lending.waits > 0 || s.cells.idle <= 0 || j.nextDelivery() >= ledger.MaxDelivery {
		return
	}
	back := uint64(0)
	for _, peer := range slices.Sorted(maps.Keys(j.lending.loans)) {
		l := j.lending.loans[peer]
		has, most := l.tasks().Count(), uint64(s.cells.idle)
		rest := has - min(has, uint64(max(0, l.runs)))
		if n := min((rest+1)/2, most-min(most, back)); n > 0 && s.now.Sub(l.moved) >= lendEvery {
			l.state.Tasks, l.told = l.tasks().Minus(lastOf(l.tasks(), n)), false
			s.keepLoan(j, peer, l)
			s.tellBorrower(j, peer, l)
			back += n
		}
	}
	s.cells.idle -= int(back) // until more is told
	if back > 0 {
		j.lending.known = false // until the home has heard
		s.comeHome(j, back)
	}
}

// stalls is how long nothing may come of a loan.
func (j *submitted) stalls() time.Duration {
	takes := max(j.lending.wall, j.spec.Work)
	if takes == 0 {
		return lendUnknown
	}
	return lendLeast + lendStalls*min(takes, lendUnknown)
}

// fail halves what a borrower gets, and succeed doubles it.
func (ln *lender) fail(peer task.PeerID) {
	s := ln.s
	if s.cells.credits == nil {
		s.cells.credits = map[task.PeerID]int{}
	}
	if len(s.cells.credits) >= mostFailed {
		clear(s.cells.credits) // somebody makes up keys: each is begun with anew anyway
	}
	s.cells.credits[peer] = min(s.cells.credits[peer]+1, mostHalves)
}

// mostFailed bounds the borrowers that are remembered to have failed.
const mostFailed = 1024

func (ln *lender) succeed(peer task.PeerID) {
	s := ln.s
	switch s.cells.credits[peer] {
	case 0:
	case 1:
		delete(s.cells.credits, peer)
	default:
		s.cells.credits[peer]--
	}
}
