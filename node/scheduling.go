package node

import (
	"context"

	"godwit/scheduler"
)

// Scheduling tells how the leader of an overlay that this node serves schedules now:
// what waits, who is there, what it has learnt and which policies it follows. Only
// the leader knows, and is asked wherever it is.
func (q *queries) Scheduling(ctx context.Context, nameOrID string) (s scheduler.Scheduling, err error) {
	var l leader
	if e := q.look(ctx, func() {
		var m *membership
		if m, err = q.overlays.find(nameOrID); err == nil {
			l = leader{m.id, m.Manifest().Name, m.Leader().Leader}
		}
	}); e != nil {
		return s, e
	}
	if err != nil {
		return s, err
	}
	return s, q.ask(ctx, l, methodScheduling, jobsQuery{l.overlay}, &s)
}
