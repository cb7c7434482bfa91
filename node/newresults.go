package node

import (
	"context"
	"fmt"

	"godwit/scheduler/message"
	"godwit/task"
)

// NewResults returns ended tasks of a job that this node submitted and holds, at most limit of them that are
// not among those that the caller has, in order; and whether there will be no others.
func (q *queries) NewResults(ctx context.Context, id task.JobID, have []message.Range, limit int) (
	[]message.TaskSummary, bool, error) {
	if _, err := message.Without(nil, have); err != nil {
		return nil, false, fmt.Errorf("reading what is here already: %w", err)
	}
	h, err := q.heldBy(ctx, id, func(held []message.Range) []uint64 {
		fresh, _ := message.Without(held, have) // as looked at above
		return firstOf(fresh, 0, limit)
	})
	if err == nil && !h.mine {
		err = fmt.Errorf("%w among those this node submitted: %s", ErrUnknownJob, id)
	}
	return h.results, h.status.Settled() && len(h.results) == 0, err
}
