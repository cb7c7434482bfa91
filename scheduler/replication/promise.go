package replication

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
	job   task.JobID // whose acceptance it is; empty for results
}

// promise sends a message as soon as what it says is true at all copies.
func (r *Replicas) promise(p promise) {
	p.marks = r.marks()
	p.holds = slices.DeleteFunc(p.holds, func(n message.HoldName) bool { return !r.awaited(n) })
	if !r.release(&p) {
		r.promises = append(r.promises, p)
	}
}

// marks returns what the followers waited for have yet to acknowledge.
func (r *Replicas) marks() []mark {
	var out []mark
	for _, f := range r.ranked {
		if m := (mark{f.peer, f.session, f.queued}); !m.reached(f) {
			out = append(out, m)
		}
	}
	return out
}

// reached reports whether every follower that is still in sync has acknowledged its
// mark.
func (r *Replicas) reached(marks []mark) bool {
	return !slices.ContainsFunc(marks, func(m mark) bool { return !m.reached(r.followers[m.peer]) })
}

// release sends a promise that holds, and reports whether it did.
func (r *Replicas) release(p *promise) bool {
	if !r.reached(p.marks) || slices.ContainsFunc(p.holds, r.awaited) {
		return false
	}
	if p.job != "" {
		delete(r.accepting, p.job)
	}
	r.emit(p.send)
	return true
}

// keepPromises sends what has come to hold.
func (r *Replicas) keepPromises() {
	if len(r.promises) > 0 {
		r.promises = slices.DeleteFunc(r.promises, func(p promise) bool { return r.release(&p) })
	}
}

// Accept tells the submitter of a job that it is accepted, once, and what the ledger has of
// it as a later word about what it holds than it has just said; nil for nothing.
func (r *Replicas) Accept(id task.JobID, submitter task.PeerID, later *task.Held) {
	if !r.accepting[id] {
		r.accepting[id] = true
		r.accepted = append(r.accepted, message.Send{To: submitter,
			Message: message.Message{Accepted: &message.Accepted{Job: id, Held: later}}})
	}
}

// SendPromises sends what has come to hold, and promises the acceptances of this Step. It
// follows SendCopies, so that what the Step's copies carry is counted.
func (r *Replicas) SendPromises() {
	r.keepPromises()
	for _, send := range r.accepted {
		id := send.Message.Accepted.Job
		r.promise(promise{holds: []message.HoldName{{Task: task.TaskID{Job: id}, Kind: message.HoldJob}}, job: id,
			send: send})
	}
	r.accepted = r.accepted[:0]
}

// Acknowledge sends a worker what may be said at once, and promises the rest: results with
// blocks on their way each by itself, so that a large one holds up no other.
func (r *Replicas) Acknowledge(to task.PeerID, ack *message.Ack) {
	var slow, quick []message.AttemptName
	for _, n := range ack.Ended {
		if r.awaited(message.HoldName{Task: n.Task, Kind: message.HoldOutputs}) {
			slow = append(slow, n)
		} else {
			quick = append(quick, n)
		}
	}
	if len(slow) == 0 && len(r.marks()) == 0 {
		r.emit(message.Send{To: to, Message: message.Message{Ack: ack}})
		return
	}
	say := func(ended []message.AttemptName, holds []message.HoldName) {
		r.promise(promise{holds: holds, send: message.Send{To: to,
			Message: message.Message{Ack: &message.Ack{Epoch: r.epoch, Ended: ended}}}})
	}
	if len(ack.Drop)+len(ack.Moves) > 0 || len(ack.Ended) == 0 {
		now := &message.Ack{Epoch: r.epoch, Drop: ack.Drop, Moves: ack.Moves}
		r.emit(message.Send{To: to, Message: message.Message{Ack: now}})
	}
	if len(quick) > 0 {
		say(quick, nil)
	}
	for _, n := range slow {
		o := r.orders[message.HoldName{Task: n.Task, Kind: message.HoldOutputs}]
		if o.promised == to {
			continue // the worker has only repeated itself
		}
		o.promised = to
		say([]message.AttemptName{n}, []message.HoldName{{Task: n.Task, Kind: message.HoldOutputs}})
	}
}
