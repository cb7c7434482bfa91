package node

import (
	"context"
	"fmt"

	"godwit/blocks"
	"godwit/node/exec"
	"godwit/scheduler/message"
	"godwit/task"
)

// maxContent bounds what a machine has fetched of which nobody has signed a size: a
// module, a job's files held for another, or a checkpoint. No input is larger, and it
// keeps a stranger's job from filling the disk with one CID.
const maxContent = max(4<<30, exec.MaxState)

// fetchFor does what a machine asks: each of the content as large as was said, all
// together no more than is allowed. Its caller holds the content.
func (c *content) fetchFor(ctx context.Context, e message.Fetch) error {
	if err := c.roomFor(ctx, e); err != nil {
		return err
	}
	left := e.Most
	for _, cid := range e.CIDs {
		root := blocks.Root{CID: cid, Bound: blocks.AtMost(maxContent)}
		if size, said := e.Sizes[cid]; said {
			root.Bound = blocks.Exactly(size)
		} else if e.Most > 0 {
			root.Bound = blocks.AtMost(left)
		}
		if err := blocks.AtMost(left).Allow(root.Bound.Most()); e.Most > 0 && err != nil {
			return fmt.Errorf("fetching %s, of %s for all together: %w", cid, task.FormatSize(e.Most), err)
		}
		if err := c.bring(ctx, root, e.Holders); err != nil {
			return err
		}
		if e.Most == 0 {
			continue
		}
		size, err := c.blocks.Measure(ctx, cid, root.Bound)
		if err != nil {
			return fmt.Errorf("reading %s: %w", cid, err)
		}
		left -= size
	}
	return c.blocks.Sync(ctx)
}

// roomFor makes room for what is said of the content. A job that is offered is new work;
// outputs and states of jobs that were accepted are owed.
func (c *content) roomFor(ctx context.Context, e message.Fetch) error {
	var need int64
	for cid, size := range e.Sizes {
		here, err := c.blocks.HasAll(ctx, cid)
		if err != nil {
			return err
		}
		if !here {
			need += size
		}
	}
	return c.MakeRoom(ctx, need, e.Most > 0)
}
