package submitter

import (
	"fmt"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// adopt makes a loan of tasks that a borrower's members run since its cell and this one were one, so that the home
// does not begin them again. Of one that says it runs more than it has slots for they are the first: it has no
// more of the job by that than by any loan.
func (ln *lender) adopt(j *submitted, from task.PeerID, runs []message.Range) {
	s := ln.s
	if len(runs) == 0 || j.state.Final || j.lending == nil || !s.mayDelegate(j) {
		return
	}
	at, leads := s.cells.load(from)
	l := j.lending.loans[from]
	set, err := ledger.MakeSet(runs)
	if !leads || l == nil || !l.open || err != nil || len(set) == 0 || set[len(set)-1].To > j.total ||
		s.now.Before(l.rests) || j.nextDelivery() >= ledger.MaxDelivery {
		return
	}
	set = set.Minus(j.told()).Minus(j.have)
	most := min(at.Slots, mostRoom*max(1, s.cells.own)) >> s.cells.credits[from]
	if set = firstOf(set, min(uint64(max(0, most)), s.allowance(j, from, 1))); len(set) == 0 {
		return
	}
	n := set.Count()
	l.heard, l.answered, l.moved = s.now, s.now, s.now
	s.give(j, at, l, set)
	j.lending.waits -= min(j.lending.waits, n)
	s.emit(message.Decided{Task: task.TaskID{Job: j.id}, Action: "lent", Peer: from,
		Reason: fmt.Sprintf("%d tasks that cell %s runs since it was one with this", n, at.Cell)})
}

// firstOf returns the first n tasks of a set.
func firstOf(set ledger.Set, n uint64) (out ledger.Set) {
	for _, r := range set {
		if n == 0 {
			break
		}
		r.To = min(r.To, r.From+n)
		n -= r.To - r.From
		out = append(out, r)
	}
	return out
}
