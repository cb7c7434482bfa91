package scheduler

import (
	"slices"

	"godwit/scheduler/message"
	"godwit/task"
)

// A promise is a message that says something is held for good: it leaves when
// every follower that was in sync has what it rests on, and the first of them
// the blocks. With no follower in sync it leaves at once.
type promise struct {
	marks []mark
	holds []message.HoldName
	send  message.Send
	job   *job // whose acceptance it is; nil for results
}

// A mark is what a follower must have acknowledged, of the session of the time. One
// that is in sync in a later session has that and more.
type mark struct {
	peer    task.PeerID
	session uint64
	queued  uint64
}

// reached says whether the follower, which may be nil, need not be waited for.
func (m *mark) reached(f *follower) bool {
	switch {
	case f == nil || !f.gates():
		return true
	case f.rejoining:
		return false
	}
	return f.session != m.session || f.acked >= m.queued
}

// promise sends a message as soon as what it says is true at all copies.
func (c *Coordinator) promise(p promise) {
	p.marks = c.marks()
	p.holds = slices.DeleteFunc(p.holds, func(n message.HoldName) bool { return !c.awaited(n) })
	if !c.release(&p) {
		c.promises = append(c.promises, p)
	}
}

// marks returns what the followers waited for have yet to acknowledge.
func (c *Coordinator) marks() []mark {
	var out []mark
	for _, peer := range c.group {
		f := c.followers[peer]
		if m := (mark{peer, f.session, f.queued}); !m.reached(f) {
			out = append(out, m)
		}
	}
	return out
}

// reached says whether every follower that is still in sync has acknowledged its
// mark.
func (c *Coordinator) reached(marks []mark) bool {
	return !slices.ContainsFunc(marks, func(m mark) bool { return !m.reached(c.followers[m.peer]) })
}

// release sends a promise that holds, and says whether it did.
func (c *Coordinator) release(p *promise) bool {
	if !c.reached(p.marks) || slices.ContainsFunc(p.holds, c.awaited) {
		return false
	}
	if p.job != nil {
		p.job.accepting = false
	}
	c.emit(p.send)
	return true
}

// keepPromises sends what has come to hold.
func (c *Coordinator) keepPromises() {
	if len(c.promises) > 0 {
		c.promises = slices.DeleteFunc(c.promises, func(p promise) bool { return c.release(&p) })
	}
}

// promiseAccepted tells the submitter of a job that it is accepted, once.
func (c *Coordinator) promiseAccepted(j *job) {
	if !j.accepting {
		j.accepting = true
		c.accepting = append(c.accepting, j)
	}
}

// sendPromises is the part of flush that needs the followers. It runs after the
// Step's copies were sent, so that what they carry is counted.
func (c *Coordinator) sendPromises() {
	c.keepPromises()
	for _, j := range c.accepting {
		c.promise(promise{
			holds: []message.HoldName{{Task: task.TaskID{Job: j.id}, Kind: message.HoldJob}}, job: j,
			send: message.Send{To: j.submitter, Message: message.Message{Accepted: &message.Accepted{Job: j.id}}},
		})
	}
	c.accepting = c.accepting[:0]
	for _, to := range c.mailTo {
		if m := c.mail[to]; m.ack != nil {
			c.promiseAck(to, m.ack)
		}
	}
}

// promiseAck sends what may be said at once, and promises the rest: results with
// blocks on their way each by itself, so that a large one holds up no other.
func (c *Coordinator) promiseAck(to task.PeerID, ack *message.Ack) {
	var slow, quick []message.AttemptName
	for _, n := range ack.Ended {
		if c.awaited(message.HoldName{Task: n.Task, Kind: message.HoldOutputs}) {
			slow = append(slow, n)
		} else {
			quick = append(quick, n)
		}
	}
	if len(slow) == 0 && len(c.marks()) == 0 {
		c.emit(message.Send{To: to, Message: message.Message{Ack: ack}})
		return
	}
	say := func(ended []message.AttemptName, holds []message.HoldName) {
		c.promise(promise{holds: holds, send: message.Send{To: to, Message: message.Message{Ack: &message.Ack{Epoch: c.epoch, Ended: ended}}}})
	}
	if len(ack.Drop) > 0 || len(ack.Ended) == 0 {
		c.emit(message.Send{To: to, Message: message.Message{Ack: &message.Ack{Epoch: c.epoch, Drop: ack.Drop}}})
	}
	if len(quick) > 0 {
		say(quick, nil)
	}
	for _, n := range slow {
		o := c.orders[message.HoldName{Task: n.Task, Kind: message.HoldOutputs}]
		if o.promised == to {
			continue // the worker has only repeated itself
		}
		o.promised = to
		say([]message.AttemptName{n}, []message.HoldName{{Task: n.Task, Kind: message.HoldOutputs}})
	}
}
