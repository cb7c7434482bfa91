package scheduler

import (
	"slices"
	"time"

	"godwit/scheduler/ledger"
	"godwit/task"
)

// A move is a running task on its way to another member. Its worker is told to
// stop it with its state; meanwhile a slot is kept at the destination, to which
// the task is leased, from that state, when the worker has answered and the
// state is held here. Until then the lease is as any other: if the task
// completes, that counts, and if its worker is lost, the task waits again. A
// move is in memory alone: the next leader sees what the worker reports.
type move struct {
	to    *host     // whose slot is kept; nil when it is gone
	why   string    // it leaves
	there string    // why to there
	by    time.Time // when its worker must have answered
}

func (c *Coordinator) beginMove(m leaving) {
	l := m.lease
	l.move = &move{to: m.to, why: m.why, there: m.there, by: c.now.Add(c.cfg.MoveWithin)}
	l.stays = ""
	m.to.coming = append(m.to.coming, l)
	m.to.load++
	m.to.memoryUsed += l.job.spec.Memory
	c.settleHost(m.to)
	c.drop(l.host.peer, l.taskID(), l.attempt, DropMoved)
	c.alarm(l.host, l.move.by)
	c.decided(l.taskID(), "moving", m.to.peer, task.ClipMessage(m.why+"; there: "+m.there))
	c.touch(l.job)
}

// freeMove gives the slot that is kept for a lease free again.
func (c *Coordinator) freeMove(l *lease) {
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

// freeComing frees what is kept at a host that goes: the tasks on their way go
// elsewhere.
func (c *Coordinator) freeComing(h *host) {
	for _, l := range slices.Clone(h.coming) {
		c.freeMove(l)
	}
}

// checkMove gives up a worker that does not answer: the task goes on from its
// last checkpoint.
func (c *Coordinator) checkMove(l *lease) {
	if l.move == nil || l.ending != nil || c.now.Before(l.move.by) {
		return
	}
	c.drop(l.host.peer, l.taskID(), l.attempt, DropSuperseded)
	c.giveUp(l, "lost", "the worker did not save the task, to be moved, within "+c.cfg.MoveWithin.String())
}

// heldFixed notes that a worker cannot save the state of a lease, which stays.
func (c *Coordinator) heldFixed(l *lease) {
	l.fixed = true
	if m := l.move; m != nil {
		c.freeMove(l)
		l.move = nil
		c.stays(l, m.why, cannotSave)
	}
}

// awaitsState says whether an attempt that was stopped has told of a state that
// is still being fetched: its end waits for it.
func (c *Coordinator) awaitsState(l *lease, r *task.Result) bool {
	return c.mover != nil && l != nil && l.saving > 0 && r.Outcome == task.Interrupted
}

// departs returns the move of an attempt that ended with its state saved, if its
// task may be leased to where it was to go; nil if it has to wait as any other.
func (c *Coordinator) departs(l *lease, r *task.Result) *move {
	if l == nil || l.move == nil || r.Outcome != task.Interrupted || !c.welcome(l) {
		return nil
	}
	best := l.job.ledger.Row(l.task.index).Best
	if best == nil || l.told == 0 || best.Fuel < l.told {
		return nil // it saved nothing, or that could not be had
	}
	l.movedTo = l.move.to.peer
	m := *l.move // the slot is given free with the lease, and taken in the same Step
	return &m
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

// handOver leases a task whose lease is off the books to where it was to go.
func (c *Coordinator) handOver(j *job, i uint64, m *move) {
	reason := task.ClipMessage("moved there: " + m.why + "; " + m.there)
	c.seq++
	l := c.addLease(j, m.to, i, Attempt{Epoch: c.epoch, Seq: c.seq}, reason, nil)
	c.post(l)
	c.decided(l.taskID(), "moved", m.to.peer, reason)
}

// refusedMove takes a lease back that was to move and had not started: it begins
// where it was to go.
func (c *Coordinator) refusedMove(l *lease) {
	j, i := l.job, l.task.index
	var m *move
	if c.welcome(l) {
		moved := *l.move
		m = &moved
	}
	c.removeLease(l, "superseded", DropMoved)
	if m == nil {
		c.decided(task.TaskID{Job: j.id, Index: i}, "requeued", l.host.peer, DropMoved)
		c.waitAgain(j, i)
		return
	}
	c.handOver(j, i, m)
}
