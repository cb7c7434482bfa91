package scheduler

import (
	"slices"

	"godwit/overlay"
	"godwit/scheduler/leasing"
	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// A hand-over at the leader. The source's lease stays on the books until the
// first evidence that the guest runs at the destination: its own word, or the
// source's. Then, and not before, the destination's attempt takes its place: at
// no time do both count. What fails before leaves all as it was.

// mayHandOver reports whether a move that begins can be one.
func (t *transfers) mayHandOver(l *lease) bool {
	return l.host.hands && l.move.to.hands && l.tries.failed < maxHandOvers
}

// offerMove offers the task to its destination.
func (t *transfers) offerMove(l *lease) {
	m := l.move
	offer := message.Lease{Task: l.taskID(), Attempt: m.as, TTL: t.c.cfg.LeaseTTL,
		Await: &message.Await{Worker: l.host.peer, Attempt: l.attempt}}
	if l.shown.since == 0 { // not before its job was
		l.shown.since = max(1, l.job.spec.Submitted.UnixMilli())
	}
	if work, known := l.job.workOf(l.task.index); known {
		left, _ := t.c.migration.progressOf(l, work)
		offer.Left = min(left, task.MaxDuration)
	}
	t.c.postTo(m.to, l.job, offer, l.shown.since)
}

// orderMove has the source hand its task over.
func (t *transfers) orderMove(l *lease) {
	if a := t.c.outbox.ack(l.host.peer); len(a.Moves) < message.MaxMoves { // else with its next report
		a.Moves = append(a.Moves, message.MoveOrder{
			Task: l.taskID(), Attempt: l.attempt, To: l.move.to.peer, As: l.move.as,
			Urgent: l.host.state != overlay.Available && l.host.state != overlay.Leaving,
		})
	}
}

// remindMove goes on with a move whose task is still at its source.
func (t *transfers) remindMove(l *lease, held *message.Held) {
	m := l.move
	switch {
	case !l.is(leasing.HandsOver): // the word may have been lost
		t.c.outbox.drop(l.host.peer, l.taskID(), l.attempt, message.DropMoved)
		return
	case held.Moving == m.as:
		m.by = t.c.now.Add(t.c.cfg.MoveWithin)
	default:
		t.orderMove(l)
	}
	if !m.awaited {
		t.offerMove(l)
	}
}

// heldAhead takes in what a destination says of an attempt that is not on the
// books, and reports whether it is one of a hand-over.
func (t *transfers) heldAhead(j *job, h *host, held *message.Held) bool {
	i := held.Task.Index
	l := j.movingTo(h, i, held.Attempt)
	if l == nil {
		if l = t.takeUpMove(j, h, held); l == nil {
			return false
		}
	}
	l.move.awaited = true
	if held.Running {
		t.arrivedAt(l)
	}
	return true
}

// renumbered reports whether a worker has a task under the attempt of a hand-over
// that its lease has taken the place of. The word of that may have been lost.
func (t *transfers) renumbered(j *job, h *host, held *message.Held) bool {
	live := j.live[held.Task.Index]
	if live == nil {
		return false
	}
	k := slices.IndexFunc(live.leases, func(l *lease) bool {
		return l.host == h && l.after == held.Attempt && l.is(leasing.Open)
	})
	if k < 0 {
		return false
	}
	l := live.leases[k]
	if !t.c.now.Before(l.start.Add(t.c.cfg.ReportEvery)) {
		t.c.post(l)
	}
	l.expires = t.c.now.Add(t.c.cfg.LeaseTTL)
	return true
}

// takeUpMove books a hand-over that a worker tells of and that this leader does
// not know: one of a former term, or one that it gave up too soon.
func (t *transfers) takeUpMove(j *job, h *host, held *message.Held) *lease {
	i := held.Task.Index
	l := j.leaseAt(i, held.After)
	ours := held.Attempt.Epoch == t.c.term.epoch
	switch {
	case held.After == (message.Attempt{}) || l == nil || l.move != nil || !l.is(leasing.Open) && !held.Running ||
		!held.After.Less(held.Attempt):
		return nil
	case ours && (!held.Running || l.tries.last != held.Attempt):
		return nil
	case !t.mayTake(j, i, h):
		return nil
	}
	t.settleOrphan(l) // it cannot be handed on from where it never ran
	t.bookMove(l, h, held.Attempt)
	return l
}

// mayTake reports whether a host may have the lease of a task that was handed over
// to it.
func (t *transfers) mayTake(j *job, i uint64, h *host) bool {
	return j.state == jobOpen && j.mayResume() && j.ledger.Verdict(i) == ledger.Open &&
		!slices.Contains(j.workersOf(i), h.peer)
}

// bookMove books a hand-over that is under way.
func (t *transfers) bookMove(l *lease, to *host, as message.Attempt) {
	l.move = &move{to: to, why: "it was on its way", there: "begun before", as: as, begun: t.c.now,
		by: t.c.now.Add(t.c.cfg.MoveWithin), awaited: true}
	l.stay.why = ""
	l.take(leasing.Hands)
	t.keepSlot(l)
	t.c.members.alarm(l.host, l.move.by)
}

// arrivedAt makes a hand-over a fact: the destination's attempt has the task.
func (t *transfers) arrivedAt(l *lease) *lease {
	j, i := l.job, l.task.index
	l.movedTo = l.move.to.peer
	m := t.takeMove(l)
	s := j.startAfter(i, m, m.to.peer)
	s.line = m.line
	t.c.removeLease(l, ledger.Moved, m.why)
	reason := task.ClipMessage("moved there: " + m.why + "; " + m.there)
	to := s.book(t.c, j, m.to, i, m.as, reason, nil)
	to.take(leasing.Starts)
	to.after, to.shown.since = l.attempt, l.shown.since
	j.migrations++
	t.c.table.persistRow(j, i)
	t.c.members.pauseJob(l.host, j, t.c.cfg.RefusalPause, "a task of the job has just moved away from there")
	t.c.decided(to.taskID(), "moved", m.to.peer, reason)
	return to
}

// moveFailed gives a hand-over up that came to nothing: the task runs on where it
// is. It is tried again after a while; where its member leaves there is no time.
func (t *transfers) moveFailed(l *lease, reason string) {
	m := l.move
	t.freeMove(l)
	l.move, l.tries.last = nil, m.as
	l.take(leasing.Stays)
	l.tries.failed++
	l.tries.notBefore = t.c.now.Add(noticeAgain)
	t.c.leaseChanged(l.job, l.task.index)
	t.c.migration.stayed(l, "move failed: "+reason, "move failed")
	t.c.touch(l.job)
	t.seal(l, inWords(m.why))
	if l.move == nil {
		t.c.migration.scanAgain()
	}
}

// unmoved takes in that a source has given a hand-over up.
func (t *transfers) unmoved(h *host, u *message.Unmoved) {
	j := t.c.reports.current(u.Task)
	if j == nil {
		return
	}
	if l := leaseOf(j, h, u.Task.Index, u.Attempt); l != nil && l.is(leasing.HandsOver) && l.move.as == u.As {
		t.moveFailed(l, u.Reason)
	}
}

// refusedAhead takes in that a destination gives a hand-over back, and says
// whether it was one.
func (t *transfers) refusedAhead(j *job, h *host, r *message.Refusal) bool {
	l := j.movingTo(h, r.Task.Index, r.Attempt)
	if l == nil {
		return false
	}
	t.c.members.pauseJob(h, j, r.RetryAfter, task.ClipMessage("it refused: "+r.Reason))
	t.freeSlot(l) // there is nothing to drop there
	t.moveFailed(l, "it was refused there: "+r.Reason)
	return true
}

// missingAhead gives up the hand-overs to a host that does not have them.
func (t *transfers) missingAhead(h *host, reborn bool, told *listing) {
	for _, l := range slices.Clone(h.coming) {
		m := l.move
		young := t.c.now.Before(m.begun.Add(2 * t.c.cfg.ReportEvery))
		if l.is(leasing.HandsOver) && (m.awaited && !young || reborn) && !told.has(l.taskID(), m.as) {
			t.freeSlot(l)
			t.moveFailed(l, "the member there does not have it any more")
		}
	}
}

// handedOver takes in the end of an attempt whose guest runs on elsewhere, and says
// whether it is one that can be believed: else it ended as any other.
func (t *transfers) handedOver(h *host, j *job, l *lease, e *message.Ending) bool {
	d, i := e.Handed, e.Result.Task.Index
	if !e.Attempt.Less(d.As) || e.Result.Outcome != task.Interrupted || e.Result.Verify() != nil {
		return false
	}
	to := t.c.members.hosts[d.To]
	switch there := j.leaseAt(i, d.As); {
	case there != nil && there.host.peer == d.To: // the destination has said it first, or its source was lost
		t.settleOrphan(there)
	case l == nil && t.wasMoved(j, i, e.Attempt): // likewise, and it has ended since
	case to == nil || !to.lost.IsZero() || j.hasEnd(i, d.As) || !t.mayTake(j, i, to):
		return false
	case l == nil:
		t.c.addLease(j, to, i, d.As, "taken up from the word of who handed it over", nil).take(leasing.Starts)
	default:
		if m := l.move; m == nil || m.to != to || m.as != d.As {
			t.freeMove(l)
			t.bookMove(l, to, d.As)
		}
		t.arrivedAt(l)
	}
	t.measureHandOver(j, e)
	t.c.reports.thank(h, e)
	return true
}

// wasMoved reports whether an attempt's log says that its task was moved.
func (t *transfers) wasMoved(j *job, i uint64, a message.Attempt) bool {
	row := j.ledger.Rows[i]
	return row != nil && slices.ContainsFunc(row.Log, func(l message.AttemptLog) bool {
		return l.Attempt == a && l.Outcome == ledger.Moved
	})
}

// isHandingOver reports whether a worker speaks of a task that was handed over and
// that it has not heard to run: it ends by itself.
func (t *transfers) isHandingOver(j *job, held *message.Held) bool {
	row := j.ledger.Rows[held.Task.Index]
	return held.Moving != (message.Attempt{}) && row != nil &&
		slices.ContainsFunc(row.Log, func(l message.AttemptLog) bool {
			return l.Attempt == held.Attempt && l.Outcome == ledger.Moved && t.c.now.Before(l.End.Add(t.c.cfg.LeaseTTL))
		})
}

// measureHandOver notes, once, what a hand-over took, and that the CPU time used before
// it was of use.
func (t *transfers) measureHandOver(j *job, e *message.Ending) {
	i := e.Result.Task.Index
	row := j.ledger.Rows[i]
	if row == nil {
		return
	}
	k := slices.IndexFunc(row.Log, func(l message.AttemptLog) bool {
		return l.Attempt == e.Attempt && (l.Outcome == ledger.Moved || !ended(&l))
	})
	if k < 0 {
		return
	}
	log := row.Log[k]
	if log.Outcome != ledger.Moved { // it was thought lost, or nobody told this leader how it ended
		log.Outcome, log.MovedTo = ledger.Moved, e.Handed.To
		if log.End.IsZero() {
			log.End = task.At(t.c.now)
		}
		j.migrations++
	}
	log.Bytes, log.Down = e.Handed.Bytes, e.Handed.Down
	log.CPU, log.Lost = took(e.Result.CPU), 0
	if log.MovedTo != e.Handed.To || !t.c.reports.note(j, i, log) {
		return
	}
	if to := j.leaseAt(i, e.Handed.As); to != nil {
		to.saved.base = log.Saved + log.CPU
	}
	t.c.migration.learnHandOver(j, e.Handed)
	if !j.ledger.Delivered(i) {
		t.c.table.persistRow(j, i)
	}
	t.c.touch(j)
}

// orphan keeps a task whose source is lost in the middle of a hand-over for its
// destination, which may run it already, or has what came last. It reports whether
// it could.
func (t *transfers) orphan(l *lease) bool {
	m := l.move
	if !l.is(leasing.HandsOver) || m.to == nil || !m.awaited || !m.to.lost.IsZero() ||
		len(l.task.leases) != 1 && !l.job.replicated() {
		return false
	}
	j, i := l.job, l.task.index
	m = t.takeMove(l)
	t.c.reports.lost++
	t.c.removeLease(l, "lost", "the worker is lost while it hands the task over")
	t.bookAwaiting(j, i, m.to, m.as, l.attempt,
		task.ClipMessage("on its way there when its worker was lost: "+m.why+"; "+m.there)).saved.line = m.line
	return true
}

// bookAwaiting books an attempt of a task that runs nowhere as far as is known,
// and is on its way to a host. It is no placement before it runs there.
func (t *transfers) bookAwaiting(j *job, i uint64, h *host, as, after message.Attempt, reason string) *lease {
	live := j.live[i]
	if live == nil {
		live = &liveTask{index: i}
		j.live[i] = live
		j.ahead++
	}
	l := &lease{
		job: j, task: live, attempt: as, host: h, state: leasing.Awaiting,
		start: t.c.now, expires: t.c.now.Add(t.c.cfg.LeaseTTL), after: after,
		arriveBy: t.c.now.Add(t.c.cfg.MoveWithin), reason: reason,
	}
	live.leases = append(live.leases, l)
	t.c.leaseChanged(j, i)
	t.c.attach(l)
	t.c.members.alarm(h, l.arriveBy)
	t.c.decided(l.taskID(), "awaited", h.peer, reason)
	t.c.touch(j)
	return l
}

// stopAwaiting has a destination give an orphan back, with what came of it, and
// gives it up where that is not heard of.
func (t *transfers) stopAwaiting(l *lease) {
	if l.take(leasing.AsksBack) {
		l.arriveBy = t.c.now.Add(t.c.cfg.LeaseTTL)
		t.c.outbox.drop(l.host.peer, l.taskID(), l.attempt, message.DropMoved)
		return
	}
	t.c.outbox.drop(l.host.peer, l.taskID(), l.attempt, message.DropSuperseded)
	t.c.reports.giveUp(l, "lost", "what its lost worker was handing over did not arrive in time")
}

// awaitedBefore books an attempt that a worker awaits since a former term, whose
// source this leader has not heard of, and reports whether it may.
func (t *transfers) awaitedBefore(j *job, h *host, held *message.Held) bool {
	i := held.Task.Index
	if held.Attempt.Epoch >= t.c.term.epoch || held.After == (message.Attempt{}) || j.live[i] != nil ||
		!t.mayTake(j, i, h) || j.hasEnd(i, held.Attempt) {
		return false
	}
	t.bookAwaiting(j, i, h, held.Attempt, held.After, "taken up from the report of the worker that awaits it")
	return true
}

// settleOrphan makes an orphan that runs a lease as any other.
func (t *transfers) settleOrphan(l *lease) {
	if !l.is(leasing.Awaits) {
		return
	}
	j, i := l.job, l.task.index
	l.take(leasing.Starts)
	row := j.row(i)
	if k := slices.IndexFunc(row.Log, func(a message.AttemptLog) bool { return a.Attempt == l.after }); k >= 0 {
		log := row.Log[k]
		log.Outcome, log.MovedTo, log.Lost = ledger.Moved, l.host.peer, 0
		t.c.reports.note(j, i, log)
		l.saved.base = log.Saved + log.CPU
		j.migrations++
	}
	row.Note(l.log())
	t.c.table.persistRow(j, i)
	t.c.leaseChanged(j, i)
	t.c.decided(l.taskID(), "moved", l.host.peer, l.reason)
	t.c.touch(j)
}

// backFromLost books a source again that was thought lost and hands its task over
// still, and reports whether it is one.
func (t *transfers) backFromLost(j *job, h *host, held *message.Held) bool {
	live := j.live[held.Task.Index]
	if live == nil || !held.Running {
		return false
	}
	k := slices.IndexFunc(live.leases, func(l *lease) bool { return l.is(leasing.Awaits) && l.after == held.Attempt })
	if k < 0 || slices.Contains(j.workersOf(held.Task.Index), h.peer) {
		return false
	}
	o := live.leases[k]
	to, as := o.host, o.attempt
	t.c.removeLease(o, "superseded", "its worker is back")
	l := t.c.reports.adopt(j, h, held.Task.Index, held.Attempt, nil)
	l.take(leasing.Starts)
	t.bookMove(l, to, as)
	return true
}

// onTheWay reports whether a state is of a hand-over: the destination tells of one
// whose task did not come with it, or the source, which heard nothing after the
// freeze, of the last, after the task has moved.
func (t *transfers) onTheWay(j *job, h *host, s *message.SavedState) bool {
	i := s.Task.Index
	if j.movingTo(h, i, s.Attempt) != nil {
		return true
	}
	row := j.ledger.Rows[i]
	return row != nil && slices.ContainsFunc(row.Log, func(l message.AttemptLog) bool {
		return l.Attempt == s.Attempt && l.Worker == h.peer && l.Outcome == ledger.Moved
	})
}

// strayState brings a state here that is of no lease. The task does not begin
// anew elsewhere before that is here.
func (t *transfers) strayState(j *job, h *host, s *message.SavedState) {
	i := s.Task.Index
	key := stateKey(s.Task, s.Attempt)
	if t.c.table.fetches[key] != nil || !j.wantsState(i, &s.Checkpoint) {
		return
	}
	if err := t.c.vouched(s.Task, &s.Checkpoint, h.peer); err != nil {
		t.c.refuseState(s.Task, h.peer, err)
		return
	}
	if j.bringing == nil {
		j.bringing = map[uint64]int{}
	}
	j.bringing[i]++
	saved := s.Checkpoint
	t.c.table.fetch(&fetching{key: key, job: j, saved: &saved, stray: &s.Task, from: h.peer}, []task.CID{saved.CID},
		[]task.PeerID{h.peer})
}

// strayFetched goes on when such a state is here, or could not be had.
func (t *transfers) strayFetched(f *fetching, failure string) {
	j, i := f.job, f.stray.Index
	if j.bringing[i]--; j.bringing[i] <= 0 {
		delete(j.bringing, i)
	}
	if t.c.table.jobs[j.id] != j || j.state != jobOpen || j.ledger.Verdict(i) != ledger.Open {
		return
	}
	t.c.reports.keepState(j, *f.stray, f.saved, f.from, failure)
	t.c.reports.waitAgain(j, i)
}
