package scheduler

import (
	"slices"

	"godwit/overlay"
	"godwit/scheduler/leasing"
	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// transfers has tasks go from member to member.
type transfers struct {
	c *Coordinator
}

func (t *transfers) beginMove(m leaving) {
	l := m.lease
	why := m.why.Why()
	l.move = &move{to: m.to, why: why, there: m.there, begun: t.c.now, by: t.c.now.Add(t.c.cfg.MoveWithin)}
	l.stay.why = ""
	t.keepSlot(l)
	if t.mayHandOver(l) {
		l.take(leasing.Hands)
		t.c.term.seq++
		l.move.as = message.Attempt{Epoch: t.c.term.epoch, Seq: t.c.term.seq}
		t.offerMove(l)
		t.orderMove(l)
		t.c.leaseChanged(l.job, l.task.index)
	} else {
		t.orderSave(l)
	}
	t.c.members.alarm(l.host, l.move.by)
	t.c.decided(l.taskID(), "moving", m.to.peer, task.ClipMessage(why+"; there: "+m.there))
	t.c.touch(l.job)
}

// orderSave has a lease's worker stop it with its state.
func (t *transfers) orderSave(l *lease) {
	l.take(leasing.Saves)
	t.c.outbox.drop(l.host.peer, l.taskID(), l.attempt, message.DropMoved)
}

// keepSlot keeps a slot, and memory, at a move's destination.
func (t *transfers) keepSlot(l *lease) {
	h := l.move.to
	h.coming = append(h.coming, l)
	h.load++
	h.memoryUsed += l.memory()
	t.c.members.settleHost(h)
}

// freeSlot gives the slot that is kept for a lease free again.
func (t *transfers) freeSlot(l *lease) {
	if l.move == nil || l.move.to == nil {
		return
	}
	h := l.move.to
	l.move.to = nil
	h.coming = slices.DeleteFunc(h.coming, func(o *lease) bool { return o == l })
	h.load--
	h.memoryUsed -= l.memory()
	t.c.members.touchHost(h)
}

// freeMove gives the kept slot free of a move that is not to be finished.
func (t *transfers) freeMove(l *lease) {
	if m := l.move; m != nil && m.to != nil && m.handsOver() {
		t.c.outbox.drop(m.to.peer, l.taskID(), m.as, message.DropSuperseded)
	}
	t.freeSlot(l)
}

// takeMove takes the move off a lease, whose destination is to have the task now.
func (t *transfers) takeMove(l *lease) *move {
	m := *l.move
	if m.root = l.root(); m.to != nil && l.job.replicated() {
		m.line = l.saved.line.handedTo(m.to.peer, l.host.peer)
	}
	t.freeSlot(l) // it is taken again in the same Step
	l.move = nil
	return &m
}

// freeComing frees what is kept at a host that goes: the tasks on their way go
// elsewhere.
func (t *transfers) freeComing(h *host) {
	for _, l := range slices.Clone(h.coming) {
		if l.move.handsOver() {
			t.moveFailed(l, "the member there is gone")
		} else {
			t.freeMove(l)
		}
	}
}

// checkMove gives up a worker that does not answer: the task goes on from its
// last checkpoint. A hand-over that does not begin is given up alone.
func (t *transfers) checkMove(l *lease) {
	if l.is(leasing.Awaits) && !t.c.now.Before(l.arriveBy) {
		t.stopAwaiting(l)
		return
	}
	if !l.is(leasing.Moves) || t.c.now.Before(l.move.by) {
		return
	}
	if l.is(leasing.HandsOver) {
		t.moveFailed(l, "its member did not begin it, or fell silent, for "+t.c.cfg.MoveWithin.String())
		return
	}
	t.c.outbox.drop(l.host.peer, l.taskID(), l.attempt, message.DropSuperseded)
	t.c.reports.giveUp(l, "lost", "the worker did not save the task, to be moved, within "+t.c.cfg.MoveWithin.String())
}

// heldFixed notes that a worker cannot save the state of a lease, which stays.
func (t *transfers) heldFixed(l *lease) {
	l.fixed = true
	if m := l.move; m != nil {
		t.freeMove(l)
		l.move = nil
		l.take(leasing.Stays)
		t.c.leaseChanged(l.job, l.task.index)
		t.c.migration.noteStay(l, inWords(m.why), cannotSave)
	}
}

// seal has the state of a task saved whose member leaves and which nobody takes:
// the leader and the second coordinator fetch it, and it waits here.
func (t *transfers) seal(l *lease, why cause) {
	if l.host.state != overlay.Leaving || !l.is(leasing.Settled) {
		return
	}
	l.move = &move{why: why.Why(), begun: t.c.now, by: t.c.now.Add(t.c.cfg.MoveWithin)}
	t.orderSave(l)
	t.c.members.alarm(l.host, l.move.by)
	t.c.decided(l.taskID(), "saving", l.host.peer,
		"its member leaves and nobody takes it: its state is saved here, to go on from later")
}

// awaitsState reports whether an attempt that was stopped has told of a state that
// is still being fetched: its end waits for it.
func (t *transfers) awaitsState(l *lease, r *task.Result) bool {
	return (t.c.migration.mover != nil || t.c.claims.fair.terms.OnArrival || t.c.cfg.Rules.Open) && l != nil &&
		l.saved.fetching > 0 && r.Outcome == task.Interrupted
}

// savedAll reports whether all that an attempt told to have saved is held here.
func (l *lease) savedAll() bool {
	best := l.heldState()
	return best != nil && l.saved.told > 0 && best.Fuel >= l.saved.told
}

// departs returns the move of an attempt that ended with its state saved, if its
// task may be leased to where it was to go; nil if it has to wait as any other.
func (t *transfers) departs(l *lease, r *task.Result) *move {
	if l == nil || l.move == nil || r.Outcome != task.Interrupted || !t.welcome(l) || !l.savedAll() {
		return nil
	}
	l.movedTo = l.move.to.peer
	return t.takeMove(l)
}

// welcome reports whether the destination of a lease still can take its task.
func (t *transfers) welcome(l *lease) bool {
	h, j := l.move.to, l.job
	if h == nil || t.c.members.hosts[h.peer] != h || !h.eligible() || j.state != jobOpen ||
		len(l.task.leases) != 1 && !j.replicated() {
		return false
	}
	_, paused := h.paused[j]
	return !paused && j.ledger.Verdict(l.task.index) == ledger.Open && !l.barred(h.peer)
}

// leaseThere leases a task whose lease is off the books to where it was to go: it
// begins there. It is another attempt than that of a hand-over: the destination
// may be giving that one back at this moment. One that awaits it still, or that
// it runs as there already, takes the new number.
func (t *transfers) leaseThere(j *job, i uint64, m *move) {
	reason := task.ClipMessage("moved there: " + m.why + "; " + m.there)
	t.c.term.seq++
	a := message.Attempt{Epoch: t.c.term.epoch, Seq: t.c.term.seq}
	l := j.startAfter(i, m, m.to.peer).book(t.c, j, m.to, i, a, reason, nil)
	l.after = m.as
	t.c.post(l)
	t.c.decided(l.taskID(), "moved", m.to.peer, reason)
}

// refusedMove takes a lease back that was to move and had not started: it begins
// where it was to go.
func (t *transfers) refusedMove(l *lease) {
	j, i := l.job, l.task.index
	var m *move
	if t.welcome(l) {
		m = t.takeMove(l)
	}
	t.c.removeLease(l, "superseded", message.DropMoved)
	if m == nil {
		t.c.decided(task.TaskID{Job: j.id, Index: i}, "requeued", l.host.peer, message.DropMoved)
		t.c.reports.waitAgain(j, i)
		return
	}
	t.leaseThere(j, i, m)
}

// maxHandOvers is how many hand-overs of a lease may fail before its task moves
// by way of the leader: its workers may not reach one another at all.
const maxHandOvers = 2
