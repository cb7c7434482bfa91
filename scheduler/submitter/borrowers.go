package submitter

import (
	"cmp"
	"hash/fnv"
	"maps"
	"slices"
	"time"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// What is said to the leaders of other cells, and what they say.

// fromBorrower takes in what the leader of another cell says.
func (ln *lender) fromBorrower(from task.PeerID, m *message.Message) {
	s := ln.s
	if _, leads := s.cells.load(from); !leads {
		return
	}
	var id task.JobID
	switch {
	case m.Accepted != nil:
		id = m.Accepted.Job
	case m.Progress != nil:
		id = m.Progress.Job
	}
	j := s.jobs[id]
	switch {
	case j == nil && s.forgotten[id] == nil:
		return
	case j == nil || j.state.Final:
		s.sayOver(id, from)
		return
	}
	if last := s.before(j, from); last != nil {
		if !last.quiet(s.now) { // two say that they lead the cell: who has the loan keeps it
			s.takeFrom(from, j, m.Progress)
			return
		}
		s.followCells(j) // it goes on with what the last one had
	}
	if j.lending == nil || j.lending.loans[from] == nil {
		// It has the job of a time when its cell and this one were one: nothing more is wanted of it.
		l := j.borrower(from)
		l.open, l.moved = true, s.now
		s.tellAnew(j, l)
		s.keepLoan(j, from, l)
	}
	l := j.lending.loans[from]
	l.heard, l.answered, l.pause = s.now, s.now, lendEvery
	l.next = s.now.Add(lendEvery)
	if m.Accepted != nil {
		s.acceptedBy(from, j, l, m.Accepted)
		return
	}
	s.broughtBy(from, j, l, m.Progress)
}

func (ln *lender) acceptedBy(from task.PeerID, j *submitted, l *loan, a *message.Accepted) {
	s := ln.s
	switch {
	case a.Error != "":
		l.rests = s.now.Add(max(a.RetryAfter, lendSilence))
		s.takeBack(j, from, "the cell's leader does not take them: "+task.ClipMessage(a.Error))
	case a.Held != nil && a.Held.Delivery >= l.state.Delivery && a.Held.Delivery < ledger.MaxDelivery &&
		a.Held.Verify(j.id, s.Key()):
		if now, err := ledger.HeldOf(l.state.Delivery, j.wantedOf(l)); err != nil ||
			a.Held.Delivery == now.Delivery && a.Held.Count == now.Count && a.Held.Digest == now.Digest {
			return
		}
		j.state.Lent = max(j.state.Lent, a.Held.Delivery) // of before two cells became one
		s.tellAnew(j, l)
		s.keepLoan(j, from, l)
		s.askBorrower(j, from, l)
	}
}

// broughtBy takes the results that a borrower brings, whether it was lent these tasks or not.
func (ln *lender) broughtBy(from task.PeerID, j *submitted, l *loan, p *message.Progress) {
	s := ln.s
	had, told := l.tasks().Count(), j.told().Count()
	l.runs = int(min(p.Summary.AtMembers(), message.MaxProgress<<8))
	if s.takeFrom(from, j, p) {
		return
	}
	if now := l.tasks().Count(); now < had {
		l.moved = s.now
		if now == 0 {
			s.succeed(from)
		}
	}
	if l.open && (l.runs == 0 || s.now.Sub(l.moved) >= j.stalls()) {
		l.open, l.told = false, false
	}
	if len(p.Tasks) > 0 || !l.told || !l.open && len(l.tasks()) == 0 && !message.FinalState(p.Summary.State) {
		s.tellBorrower(j, from, l)
	}
	s.adopt(j, from, p.Runs)
	if j.told().Count() > told { // the home may be at these, too
		s.got(j)
	}
	s.lendMore(j)
	s.emit(message.JobChanged{Job: j.id})
}

// atHome takes in what the home says of a job, and corrects it: to the home, tasks that are
// lent have ended.
func (ln *lender) atHome(j *submitted, sum message.JobSummary) message.JobSummary {
	s := ln.s
	if j.lending == nil {
		if len(s.cells.others) == 0 {
			return sum
		}
		j.lending = &lending{loans: map[task.PeerID]*loan{}}
	}
	open := j.total - min(j.total, j.told().Count()) // what it says may be of before the last word
	j.lending.waits, j.lending.known = min(sum.AtLeader(), open-min(open, sum.AtMembers())), true
	lent, runs := j.lent().Count(), uint64(0)
	for _, l := range j.lending.loans {
		runs += min(uint64(max(0, l.runs)), l.tasks().Count())
	}
	if lent == 0 {
		return sum
	}
	sum.Done -= min(sum.Done, lent)
	sum.Running += min(runs, lent)
	if sum.State == message.JobDone || sum.State == message.JobPartly || sum.State == message.JobFailed {
		sum.State = message.JobRunning
	}
	return sum
}

// took notes how long a task took.
func (j *submitted) took(t *message.TaskSummary, now time.Time) {
	if j.lending != nil && !t.Failed && len(t.Results) > 0 {
		// Nothing took longer than the job is there: who says so gains no more time than that.
		j.lending.wall = max(j.lending.wall, min(t.Results[0].Wall, now.Sub(j.spec.Submitted.Time)))
	}
}

// sayCancel tells all that have tasks of a job that its owner ended it.
func (ln *lender) sayCancel(j *submitted) {
	s := ln.s
	cancel := &message.Cancel{Job: j.id, Signature: task.SignCancel(j.id, s.key),
		Soon: !j.state.Cancelled}
	s.emit(message.Send{To: s.leader, Message: message.Message{Cancel: cancel}})
	if j.lending != nil {
		for _, peer := range slices.Sorted(maps.Keys(j.lending.loans)) {
			s.emit(message.Send{To: peer, Message: message.Message{Cancel: cancel}})
		}
	}
}

// answer says what is held to the leader that brought a result, be it of another cell.
func (ln *lender) answer(j *submitted, by task.PeerID) {
	s := ln.s
	if by != s.leader && j.lending != nil && j.lending.loans[by] != nil {
		s.tellBorrower(j, by, j.lending.loans[by])
		return
	}
	gotSoon(s, j)
}

// cellsAre takes in which other cells there are. Loans go with the cell where another leads it.
func (ln *lender) cellsAre(ev message.CellsAre) {
	s := ln.s
	s.cells.own, s.cells.idle, s.cells.others = ev.Slots, ev.Idle, s.choose(ev.Others)
	for _, id := range slices.Sorted(maps.Keys(s.jobs)) {
		j := s.jobs[id]
		if j.state.Final {
			continue
		}
		if j.lending == nil && len(s.cells.others) > 0 {
			j.lending = &lending{loans: map[task.PeerID]*loan{}}
		}
		s.followCells(j)
		s.lendMore(j)
	}
}

// choose returns those of other cells' leaders that this submitter has to do with: those that have
// loans, and of the others as many as it may, drawn by the names of both, so that submitters
// spread over the cells and one keeps its own.
func (ln *lender) choose(all []message.CellLoad) []message.CellLoad {
	s := ln.s
	has, drawn := map[task.PeerID]bool{}, map[task.PeerID]uint64{}
	for _, j := range s.jobs {
		if j.lending != nil {
			for peer, l := range j.lending.loans {
				has[peer] = has[peer] || len(l.tasks()) > 0
			}
		}
	}
	out := slices.Clone(all)
	out = slices.DeleteFunc(out, func(l message.CellLoad) bool { return l.Leader == s.leader || l.Leader == "" })
	for _, l := range out {
		h := fnv.New64a()
		h.Write([]byte(s.self + l.Leader))
		drawn[l.Leader] = h.Sum64()
	}
	slices.SortFunc(out, func(a, b message.CellLoad) int {
		switch {
		case has[a.Leader] != has[b.Leader] && has[a.Leader]:
			return -1
		case has[a.Leader] != has[b.Leader]:
			return 1
		}
		return cmp.Or(cmp.Compare(drawn[a.Leader], drawn[b.Leader]), cmp.Compare(a.Leader, b.Leader))
	})
	return out[:min(len(out), message.MaxCells)]
}

// followCells gives loans of leaders that lead no more to who leads their cells now.
func (ln *lender) followCells(j *submitted) {
	s := ln.s
	if j.lending == nil {
		return
	}
	for _, peer := range slices.Sorted(maps.Keys(j.lending.loans)) {
		l := j.lending.loans[peer]
		at, leads := s.cells.load(peer)
		if leads {
			l.state.Cell = at.Cell
		}
		if leads && !l.quiet(s.now) {
			continue
		}
		i := slices.IndexFunc(s.cells.others, func(o message.CellLoad) bool {
			return o.Cell == l.state.Cell && o.Leader != peer
		})
		if i < 0 || len(l.tasks()) == 0 {
			continue // nobody known leads it: it may come back
		}
		next := j.borrower(s.cells.others[i].Leader)
		tasks := slices.Clone(next.tasks())
		tasks.Union(l.tasks())
		l.wake(s.now)
		if next.heard = s.now; len(next.tasks()) == 0 {
			next.answered, next.moved = l.answered, l.moved
		} else if l.moved.Before(next.moved) {
			next.moved = l.moved // else a new loan of its own would give it more time for these
		}
		before := append(slices.Concat(next.state.Before, l.state.Before), peer)
		taken := slices.Clone(ledger.Set(next.state.Taken))
		taken.Union(l.tasks())
		begun := l.state.Begun
		if len(next.tasks()) > 0 {
			begun = min(begun, next.state.Begun)
		}
		s.give(j, s.cells.others[i], next, tasks)
		next.state.Begun, next.state.Before, next.state.Taken = begun, before[max(0, len(before)-maxBefore):], taken
		s.keepLoan(j, s.cells.others[i].Leader, next)
		s.dropLoan(j, peer)
	}
}

// quiet reports whether a borrower has not answered when it was asked, and asked again: another that says that it
// leads the cell may go on with the loan, though the summary of this one holds.
func (l *loan) quiet(now time.Time) bool { return !l.heard.IsZero() && now.Sub(l.heard) >= lendQuiet }

// before returns the loan that another leader of a peer's cell has of a job of which the peer has none; nil for no
// such loan. What the peer brings counts all the same, but its cell and the home were never one.
func (ln *lender) before(j *submitted, peer task.PeerID) *loan {
	at, leads := ln.s.cells.load(peer)
	if !leads || j.lending == nil || j.lending.loans[peer] != nil {
		return nil
	}
	for _, other := range slices.Sorted(maps.Keys(j.lending.loans)) {
		if l := j.lending.loans[other]; l.state.Cell == at.Cell && len(l.tasks()) > 0 {
			return l
		}
	}
	return nil
}

// takeFrom takes the results that the leader of another cell brings, if any, and reports whether the job is over
// by that.
func (ln *lender) takeFrom(from task.PeerID, j *submitted, p *message.Progress) (over bool) {
	s := ln.s
	if p == nil {
		return false
	}
	for i := range p.Tasks {
		if !j.state.Final {
			s.take(from, j, &p.Tasks[i])
		}
	}
	return s.finish(j, false)
}

// foldLoans has what the new leader of the own cell had borrowed be its own: two cells have
// become one.
func (ln *lender) foldLoans() {
	s := ln.s
	s.cells.others = slices.DeleteFunc(s.cells.others, func(l message.CellLoad) bool { return l.Leader == s.leader })
	for _, id := range slices.Sorted(maps.Keys(s.jobs)) {
		j := s.jobs[id]
		if j.state.Final {
			continue
		}
		n := uint64(0)
		if j.lending != nil {
			j.lending.known = false // what waits was another's word
			if l := j.lending.loans[s.leader]; l != nil {
				n = l.tasks().Count()
				s.dropLoan(j, s.leader)
			}
		}
		if n > 0 || j.state.Lent > j.state.Delivery {
			s.comeHome(j, n)
		}
	}
}
