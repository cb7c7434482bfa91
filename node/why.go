package node

import (
	"fmt"

	"godwit/overlay"
	"godwit/scheduler"
	"godwit/scheduler/message"
	"godwit/task"
)

// maxWhy bounds the tasks whose reasons are asked for at once: what holds for
// the first thousand tasks of a sweep explains the rest, and the loop has other
// things to do.
const maxWhy = 1000

// Why is why tasks wait, or are where they are, grouped by reason.
type Why struct {
	Job     task.JobID  `json:"job"`
	Asked   uint64      `json:"asked"` // tasks looked at, from the first
	Total   uint64      `json:"total"` // tasks of the job
	Reasons []WhyReason `json:"reasons"`
}

// A WhyReason is one reason and how many tasks have it.
type WhyReason struct {
	Reason string        `json:"reason"`
	Tasks  uint64        `json:"tasks"`
	First  uint64        `json:"first"` // index of one of them
	Peers  []task.PeerID `json:"peers,omitempty"`
}

type whyQuery struct {
	Overlay overlay.ID `json:"overlay"`

	Job   task.JobID `json:"job"`
	Index *uint64    `json:"index,omitempty"` // nil: the job as a whole
}

func (q whyQuery) ask(c *scheduler.Coordinator) (any, error) {
	st, ok := c.Job(q.Job, message.Page{})
	if !ok {
		return nil, fmt.Errorf("%w: %s", ErrUnknownJob, q.Job)
	}
	w := Why{Job: q.Job, Total: st.Tasks.Total, Reasons: []WhyReason{}}
	if q.Index != nil {
		if *q.Index >= w.Total {
			return nil, fmt.Errorf("%w: %s has tasks 0 to %d", ErrUnknownJob, q.Job, w.Total-1)
		}
		w.add(c, *q.Index)
		return w, nil
	}
	for i := range min(w.Total, maxWhy) {
		w.add(c, i)
	}
	return w, nil
}

func (w *Why) add(c *scheduler.Coordinator, i uint64) {
	w.Asked++
	for _, y := range c.Why(w.Job, i) {
		if g := w.find(y.Reason); g != nil {
			g.Tasks++
			continue
		}
		w.Reasons = append(w.Reasons, WhyReason{Reason: y.Reason, Tasks: 1, First: i, Peers: y.Peers})
	}
}

func (w *Why) find(reason string) *WhyReason {
	for i := range w.Reasons {
		if w.Reasons[i].Reason == reason {
			return &w.Reasons[i]
		}
	}
	return nil
}
