package node

import (
	"context"

	"godwit/scheduler/message"
	"godwit/task"
)

// A Census counts the members of an overlay as this node sees them.
type Census struct {
	ID      task.CID       `json:"id"`
	Name    string         `json:"name"`
	Members int            `json:"members"` // those there, this node among them
	Lost    int            `json:"lost"`    // whose last advert still lives
	States  map[string]int `json:"states"`  // of those there
	Slots   int            `json:"slots"`
	Free    int            `json:"free"` // of the slots, when each last said
	Leader  task.PeerID    `json:"leader"`
}

// Census counts the members of every overlay that this node serves, by name. Nothing is forecast and nobody is
// asked: a look at ten thousand members takes a few milliseconds.
func (n *Node) Census(ctx context.Context) (out []Census, err error) {
	err = n.look(ctx, func() {
		for _, m := range n.ordered() {
			c := m.census(m.View().Members())
			c.Lost = len(m.Away())
			out = append(out, c)
		}
	})
	return out, err
}

// OwnJobs lists the jobs that this node submitted, and those of the overlays that it leads, the newest first,
// without their tasks. Nobody is asked.
func (q *queries) OwnJobs(ctx context.Context) ([]message.JobStatus, error) {
	var own, led []message.JobStatus
	err := q.look(ctx, func() {
		for _, m := range q.ordered() {
			own = append(own, named(m.Submitter().Jobs(), m.Manifest().Name)...)
			if c := m.Coordinator(); c != nil {
				led = append(led, named(c.Jobs(), m.Manifest().Name)...)
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return mergeJobs(led, own), nil
}
