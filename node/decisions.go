package node

import (
	"context"
	"slices"
	"time"

	"godwit/scheduler/message"
	"godwit/task"
)

const (
	// keptDecisions is how many decisions are remembered of those that are not about every task, and
	// keptRoutine how many of those that are: as many as a page shows.
	keptDecisions = 200
	keptRoutine   = 100
)

// A Decision is something that a machine of this node decided, and why.
type Decision struct {
	At      time.Time   `json:"at"`
	Overlay string      `json:"overlay"`          // by name
	Action  string      `json:"action"`           // such as "placed", "lost", "requeued", "refused"
	Task    string      `json:"task"`             // JOB/INDEX; of a whole job its index is 0
	Peer    task.PeerID `json:"peer,omitempty"`   // whom it is about; "" for nobody
	Reason  string      `json:"reason,omitempty"` // for people
}

// decisions are the last ones. The loop owns them. To note one takes no memory but its own.
type decisions struct {
	rare, routine lastOnes
	n             uint64 // that there were
}

// lastOnes are the newest of a sequence, in a ring.
type lastOnes struct {
	ring []noted
	next int // where the next goes, once the ring is full
}

type noted struct {
	at time.Time
	of *membership
	message.Decided
}

func (l *lastOnes) add(n noted, most int) {
	if len(l.ring) < most {
		l.ring = append(l.ring, n)
		return
	}
	l.ring[l.next] = n
	l.next = (l.next + 1) % most
}

// note remembers a decision; it is on the loop.
func (d *decisions) note(at time.Time, of *membership, e message.Decided) {
	n := noted{at, of, e}
	d.n++
	if isRoutine(e.Action) {
		d.routine.add(n, keptRoutine)
		return
	}
	d.rare.add(n, keptDecisions)
}

// isRoutine says whether something like it is decided of every task.
func isRoutine(action string) bool {
	return action == "placed" || action == "done" || action == "started"
}

// list returns what is remembered, the newest first.
func (d *decisions) list() []Decision {
	out := make([]Decision, 0, len(d.rare.ring)+len(d.routine.ring))
	for _, n := range slices.Concat(d.rare.ring, d.routine.ring) {
		x := Decision{At: n.at.UTC(), Action: n.Action, Task: n.Task.String(), Peer: n.Peer, Reason: n.Reason}
		if n.of != nil {
			x.Overlay = n.of.Manifest().Name
		}
		out = append(out, x)
	}
	slices.SortStableFunc(out, func(a, b Decision) int { return b.At.Compare(a.At) })
	return out
}

// Decisions returns what this node's machines decided last, the newest first: as a leader, a worker or a
// submitter. There are some hundred at most.
func (n *Node) Decisions(ctx context.Context) (out []Decision, err error) {
	err = n.look(ctx, func() { out = n.lately.list() })
	return out, err
}

// Decided returns how many decisions there were since the node began: more than before says that some are new.
func (n *Node) Decided(ctx context.Context) (sum uint64, err error) {
	err = n.look(ctx, func() { sum = n.lately.n })
	return sum, err
}
