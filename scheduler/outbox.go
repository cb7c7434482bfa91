package scheduler

import (
	"godwit/scheduler/message"
	"godwit/task"
)

// An outbox gathers what one Step has to say to each worker.
type outbox struct {
	c *Coordinator

	mail   map[task.PeerID]*mail
	mailTo []task.PeerID // keys of mail, in the order first written to
}

// mail is what one Step has to say to one worker.
type mail struct {
	place   *message.Place
	ack     *message.Ack
	holders map[task.JobID]bool
}

// letter returns what this Step has to say to a worker so far.
func (o *outbox) letter(to task.PeerID) *mail {
	m := o.mail[to]
	if m == nil {
		m = new(mail)
		o.mail[to] = m
		o.mailTo = append(o.mailTo, to)
	}
	return m
}

func (o *outbox) ack(to task.PeerID) *message.Ack {
	m := o.letter(to)
	if m.ack == nil {
		m.ack = &message.Ack{Epoch: o.c.term.epoch}
	}
	return m.ack
}

func (o *outbox) drop(to task.PeerID, id task.TaskID, a message.Attempt, reason string) {
	ack := o.ack(to)
	ack.Drop = append(ack.Drop, message.AttemptName{Task: id, Attempt: a, Reason: reason})
}
