package node

import (
	"context"
	"time"

	"godwit/scheduler"
	"godwit/task"
)

const (
	// collectEvery is how often blocks that nobody needs are removed. The store
	// gives their space back over the hours after.
	collectEvery = time.Hour
	// collectFirst is when to do so after the start, when all is quiet.
	collectFirst = 10 * time.Minute
	// collectAge protects what was just stored: it may be part of something whose
	// root is not known yet, such as an upload.
	collectAge = time.Hour
	// crampedAge is the same when the disk is full.
	crampedAge = 10 * time.Minute
)

// collectBlocks removes what nobody needs from time to time.
func (n *Node) collectBlocks(ctx context.Context) {
	for wait := collectFirst; ; wait = collectEvery {
		cramped := false
		select {
		case <-time.After(wait):
		case <-n.cramped:
			cramped = true
		case <-ctx.Done():
			return
		}
		age := collectAge
		if cramped {
			age = crampedAge
		}
		if err := n.collect(ctx, age); err != nil && ctx.Err() == nil {
			n.log.Warn("blocks that nobody needs are not removed", "err", err)
		}
	}
}

// collect removes the blocks that nothing here needs and that are older.
func (n *Node) collect(ctx context.Context, age time.Duration) error {
	roots, err := n.roots(ctx)
	if err != nil {
		return err
	}
	gone, err := n.blocks.Collect(ctx, roots, age)
	if gone.Blocks > 0 {
		n.log.Info("blocks removed that nobody needs", "blocks", gone.Blocks, "size", task.FormatSize(gone.Bytes))
	}
	return err
}

// roots lists what must stay: what the coordinators' and the workers' machines
// name, jobs of this node that are not over, and all results that it holds.
func (n *Node) roots(ctx context.Context) ([]task.CID, error) {
	var roots []task.CID
	var spaces []string
	if err := n.do(ctx, func() {
		for _, m := range n.ordered() {
			spaces = append(spaces, m.prefix)
			if m.coordinator != nil {
				roots = append(roots, m.coordinator.Roots()...)
			} else {
				roots = append(roots, m.replica.Roots()...)
			}
			roots = append(roots, m.worker.Roots()...)
			roots = append(roots, m.submitter.Roots()...)
		}
		for id, p := range n.prepared {
			roots = append(roots, task.CID(id))
			roots = append(roots, jobContent(p.job)...)
		}
	}); err != nil {
		return nil, err
	}
	for _, space := range spaces {
		var failed error
		for _, value := range n.store.scan(ctx, space, scheduler.ResultsPrefix, &failed) {
			if t, err := scheduler.DecodeSummary(value); err == nil {
				roots = append(roots, scheduler.OutputsOf(&t)...)
			}
			if ctx.Err() != nil {
				break
			}
		}
		if failed != nil {
			return nil, failed
		}
	}
	return roots, ctx.Err()
}
