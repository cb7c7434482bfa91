package node

import (
	"bytes"
	"context"
	"io"

	"godwit/blocks"
	"godwit/blocks/seal"
	"godwit/member"
	"godwit/scheduler/message"
	"godwit/scheduler/submitter"
	"godwit/task"
)

// examine answers an Examine of a machine's, on the loop.
func (d *driver) examine(ctx context.Context, m *membership, from member.Machine, e message.Examine) {
	key := submitter.ResultKey(e.Task.Job, e.Task.Index)
	unwritten := m.unwritten(key)
	d.spawn(func() {
		done := message.Examined{Task: e.Task}
		held, err := d.store.heldResult(ctx, m.prefix, key, unwritten)
		if err == nil {
			done.Held = held
			done.Meets, err = d.content.meets(ctx, &held, &e)
		}
		if err != nil {
			done.Err = err.Error()
		}
		d.post(post{call: func() { m.step(from, done) }})
	})
}

// meets reports whether a result meets a condition.
func (c *content) meets(ctx context.Context, held *message.TaskSummary, e *message.Examine) (bool, error) {
	condition, err := task.ParseCondition(e.Condition)
	if err != nil || len(held.Results) == 0 {
		return false, err
	}
	sealer, err := seal.New(e.Key)
	if err != nil {
		return false, err
	}
	return condition.Meets(&held.Results[0], func(o *task.Output) (io.ReadCloser, error) {
		if len(o.Inline) > 0 {
			return io.NopCloser(sealer.Opening(bytes.NewReader(o.Inline))), nil
		}
		f, _, err := c.blocks.Open(ctx, o.CID, blocks.Exactly(o.Size))
		if err != nil {
			return nil, err
		}
		return opening{sealer.Opening(f), f}, nil
	})
}

// An opening reads what a file holds that may be sealed.
type opening struct {
	io.Reader
	io.Closer
}
