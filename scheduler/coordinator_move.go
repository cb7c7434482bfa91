package scheduler

import (
	"slices"
	"time"

	"godwit/overlay"
	"godwit/scheduler/leasing"
	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// A move is a running task on its way to another member, where a slot is kept for
// it. Between workers that both can, it is handed over while it runs: see
// coordinator_handover.go. Otherwise its worker is told to stop it with its state;
// it is leased to the destination from that state, when the worker has answered
// and the state is held here. Until then the lease is as any other: if the task
// completes, that counts, and if its worker is lost, the task waits again. A
// move is in memory alone: followers hear of hand-overs, and the next leader sees
// what the workers report.
type move struct {
	to    *host     // whose slot is kept; nil when it is gone, or nobody takes the task
	why   string    // it leaves
	there string    // why to there
	by    time.Time // when its worker must have answered
	// as is the destination's attempt in a hand-over; zero where there is none.
	as      message.Attempt
	begun   time.Time
	awaited bool // the destination has said that it waits for it
}

func (m *move) handsOver() bool { return m.as != (message.Attempt{}) }

func (c *Coordinator) beginMove(m leaving) {
	l := m.lease
	why := m.why.Why()
	l.move = &move{to: m.to, why: why, there: m.there, begun: c.now, by: c.now.Add(c.cfg.MoveWithin)}
	l.stay.why = ""
	c.keepSlot(l)
	if c.mayHandOver(l) {
		l.take(leasing.Hands)
		c.seq++
		l.move.as = message.Attempt{Epoch: c.epoch, Seq: c.seq}
		c.offerMove(l)
		c.orderMove(l)
		c.leaseChanged(l.job, l.task.index)
	} else {
		c.orderSave(l)
	}
	c.alarm(l.host, l.move.by)
	c.decided(l.taskID(), "moving", m.to.peer, task.ClipMessage(why+"; there: "+m.there))
	c.touch(l.job)
}

// orderSave has a lease's worker stop it with its state.
func (c *Coordinator) orderSave(l *lease) {
	l.take(leasing.Saves)
	c.drop(l.host.peer, l.taskID(), l.attempt, message.DropMoved)
}

// keepSlot keeps a slot, and memory, at a move's destination.
func (c *Coordinator) keepSlot(l *lease) {
	h := l.move.to
	h.coming = append(h.coming, l)
	h.load++
	h.memoryUsed += l.job.spec.Memory
	c.settleHost(h)
}

// freeSlot gives the slot that is kept for a lease free again.
func (c *Coordinator) freeSlot(l *lease) {
	if l.move == nil || l.move.to == nil {
		return
	}
	h := l.move.to
	l.move.to = nil
	h.coming = slices.DeleteFunc(h.coming, func(o *lease) bool { return o == l })
	h.load--
	h.memoryUsed -= l.job.spec.Memory
	c.touchHost(h)
}

// freeMove gives the kept slot free of a move that is not to be finished.
func (c *Coordinator) freeMove(l *lease) {
	if m := l.move; m != nil && m.to != nil && m.handsOver() {
		c.drop(m.to.peer, l.taskID(), m.as, message.DropSuperseded)
	}
	c.freeSlot(l)
}

// takeMove takes the move off a lease, whose destination is to have the task now.
func (c *Coordinator) takeMove(l *lease) *move {
	m := *l.move
	c.freeSlot(l) // it is taken again in the same Step
	l.move = nil
	return &m
}

// freeComing frees what is kept at a host that goes: the tasks on their way go
// elsewhere.
func (c *Coordinator) freeComing(h *host) {
	for _, l := range slices.Clone(h.coming) {
		if l.move.handsOver() {
			c.moveFailed(l, "the member there is gone")
		} else {
			c.freeMove(l)
		}
	}
}

// checkMove gives up a worker that does not answer: the task goes on from its
// last checkpoint. A hand-over that does not begin is given up alone.
func (c *Coordinator) checkMove(l *lease) {
	if l.is(leasing.Awaits) && !c.now.Before(l.arriveBy) {
		c.stopAwaiting(l)
		return
	}
	if !l.is(leasing.Moves) || c.now.Before(l.move.by) {
		return
	}
	if l.is(leasing.HandsOver) {
		c.moveFailed(l, "its member did not begin it, or fell silent, for "+c.cfg.MoveWithin.String())
		return
	}
	c.drop(l.host.peer, l.taskID(), l.attempt, message.DropSuperseded)
	c.giveUp(l, "lost", "the worker did not save the task, to be moved, within "+c.cfg.MoveWithin.String())
}

// heldFixed notes that a worker cannot save the state of a lease, which stays.
func (c *Coordinator) heldFixed(l *lease) {
	l.fixed = true
	if m := l.move; m != nil {
		c.freeMove(l)
		l.move = nil
		l.take(leasing.Stays)
		c.leaseChanged(l.job, l.task.index)
		c.stays(l, inWords(m.why), cannotSave)
	}
}

// seal has the state of a task saved whose member leaves and which nobody takes:
// the leader and the second coordinator fetch it, and it waits here.
func (c *Coordinator) seal(l *lease, why cause) {
	if l.host.state != overlay.Leaving || !l.is(leasing.Settled) {
		return
	}
	l.move = &move{why: why.Why(), begun: c.now, by: c.now.Add(c.cfg.MoveWithin)}
	c.orderSave(l)
	c.alarm(l.host, l.move.by)
	c.decided(l.taskID(), "saving", l.host.peer, "its member leaves and nobody takes it: its state is saved here, to go on from later")
}

// awaitsState says whether an attempt that was stopped has told of a state that
// is still being fetched: its end waits for it.
func (c *Coordinator) awaitsState(l *lease, r *task.Result) bool {
	return (c.mover != nil || c.fair.terms.OnArrival) && l != nil && l.saved.fetching > 0 && r.Outcome == task.Interrupted
}

// savedAll says whether all that an attempt told to have saved is held here.
func (l *lease) savedAll() bool {
	best := l.job.ledger.Row(l.task.index).Best
	return best != nil && l.saved.told > 0 && best.Fuel >= l.saved.told
}

// departs returns the move of an attempt that ended with its state saved, if its
// task may be leased to where it was to go; nil if it has to wait as any other.
func (c *Coordinator) departs(l *lease, r *task.Result) *move {
	if l == nil || l.move == nil || r.Outcome != task.Interrupted || !c.welcome(l) || !l.savedAll() {
		return nil
	}
	l.movedTo = l.move.to.peer
	return c.takeMove(l)
}

// welcome says whether the destination of a lease still can take its task.
func (c *Coordinator) welcome(l *lease) bool {
	h, j := l.move.to, l.job
	if h == nil || c.hosts[h.peer] != h || !h.eligible() || j.state != jobOpen || len(l.task.leases) != 1 {
		return false
	}
	_, paused := h.paused[j]
	return !paused && j.ledger.Verdict(l.task.index) == ledger.Open && !slices.Contains(j.workersOf(l.task.index), h.peer)
}

// leaseThere leases a task whose lease is off the books to where it was to go: it
// begins there. It is another attempt than that of a hand-over: the destination
// may be giving that one back at this moment. One that awaits it still, or that
// it runs as there already, takes the new number.
func (c *Coordinator) leaseThere(j *job, i uint64, m *move) {
	reason := task.ClipMessage("moved there: " + m.why + "; " + m.there)
	c.seq++
	l := c.addLease(j, m.to, i, message.Attempt{Epoch: c.epoch, Seq: c.seq}, reason, nil)
	l.after = m.as
	c.post(l)
	c.decided(l.taskID(), "moved", m.to.peer, reason)
}

// refusedMove takes a lease back that was to move and had not started: it begins
// where it was to go.
func (c *Coordinator) refusedMove(l *lease) {
	j, i := l.job, l.task.index
	var m *move
	if c.welcome(l) {
		m = c.takeMove(l)
	}
	c.removeLease(l, "superseded", message.DropMoved)
	if m == nil {
		c.decided(task.TaskID{Job: j.id, Index: i}, "requeued", l.host.peer, message.DropMoved)
		c.waitAgain(j, i)
		return
	}
	c.leaseThere(j, i, m)
}
