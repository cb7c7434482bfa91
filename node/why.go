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

// What an answer to why has at most, whoever's leader gives it: people read the first few, and of ten thousand members
// who all lack the same thing the names of some tell as much.
const (
	MostWhyReasons = 200
	MostWhyPeers   = 20 // of each reason
)

// Why is why tasks wait, or are where they are, grouped by reason.
type Why struct {
	Job     task.JobID  `json:"job"`
	Asked   uint64      `json:"asked"`   // tasks looked at, from the first
	Total   uint64      `json:"total"`   // tasks of the job
	Reasons []WhyReason `json:"reasons"` // at most MostWhyReasons
	More    int         `json:"more"`    // reasons that are left out
}

// A WhyReason is one reason and how many tasks have it.
type WhyReason struct {
	Reason  string        `json:"reason"`
	Tasks   uint64        `json:"tasks"`
	First   uint64        `json:"first"`             // index of one of them
	Peers   []task.PeerID `json:"peers,omitempty"`   // for whom it holds, the first MostWhyPeers
	Members int           `json:"members,omitempty"` // how many it holds for
}

// Keep leaves so many reasons and peers of each, and counts what goes.
func (w *Why) Keep(reasons, peers int) {
	left := min(len(w.Reasons), reasons)
	w.More, w.Reasons = max(0, w.More)+len(w.Reasons)-left, w.Reasons[:left]
	for i := range w.Reasons {
		r := &w.Reasons[i]
		r.Members = max(r.Members, len(r.Peers)) // nodes of before do not count
		r.Peers = r.Peers[:min(len(r.Peers), peers)]
	}
}

type whyQuery struct {
	Overlay overlay.ID `json:"overlay"`

	Job   task.JobID `json:"job"`
	Index *uint64    `json:"index,omitempty"` // nil: the job as a whole
	// But are tasks to be left out of the job as a whole: who asks knows that another cell has them.
	But []message.LoanRange `json:"but,omitempty"`
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
		w.Asked = 1
		for _, y := range c.Why(q.Job, *q.Index) {
			w.Reasons = append(w.Reasons, WhyReason{Reason: y.Reason, Tasks: 1, First: *q.Index, Peers: y.Peers})
		}
		w.Keep(MostWhyReasons, MostWhyPeers)
		return w, nil
	}
	but := message.LoanStatus{Ranges: q.But}
	set, err := but.Set()
	if err != nil {
		return nil, fmt.Errorf("reading which tasks are left out: %w", err)
	}
	w.Asked = min(w.Total, maxWhy)
	for _, y := range c.WhyAll(q.Job, maxWhy, set) {
		w.Reasons = append(w.Reasons, WhyReason{Reason: y.Reason, Tasks: y.Tasks, First: y.First, Peers: y.Peers})
	}
	w.Keep(MostWhyReasons, MostWhyPeers)
	return w, nil
}
