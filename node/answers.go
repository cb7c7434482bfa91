package node

import (
	"context"
	"encoding/json"
	"fmt"

	"godwit/overlay"
	"godwit/scheduler"
	"godwit/task"
)

// answer answers a question to the leader of an overlay.
func (q *queries) answer(ctx context.Context, from task.PeerID, method string, body []byte) ([]byte, error) {
	var jobs jobsQuery
	var job jobQuery
	var why whyQuery
	var key keyQuery
	var grid gridQuery
	type leading = *scheduler.Coordinator
	switch method {
	case methodJobs:
		return q.answerLed(ctx, from, body, &jobs, &jobs.Overlay, func(c leading) (any, error) { return c.Jobs(), nil })
	case methodScheduling:
		return q.answerLed(ctx, from, body, &jobs, &jobs.Overlay,
			func(c leading) (any, error) { return c.Scheduling(), nil })
	case methodJob:
		return q.answerLed(ctx, from, body, &job, &job.Overlay, func(c leading) (any, error) { return job.ask(c) })
	case methodWhy:
		return q.answerLed(ctx, from, body, &why, &why.Overlay, func(c leading) (any, error) { return why.ask(c) })
	case methodGrid:
		return q.answerLed(ctx, from, body, &grid, &grid.Overlay, func(c leading) (any, error) { return grid.ask(c) })
	case methodKey:
		return q.answerLed(ctx, from, body, &key, &key.Overlay, func(c leading) (any, error) { return key.ask(c, from) })
	}
	return nil, fmt.Errorf("a leader answers no request %q", method)
}

// answerLed reads a question, of which the overlay is a part, and asks this node's
// coordinator there.
func (q *queries) answerLed(ctx context.Context, from task.PeerID, body []byte, question any, of *overlay.ID,
	ask func(*scheduler.Coordinator) (any, error)) ([]byte, error) {
	if err := json.Unmarshal(body, question); err != nil {
		return nil, fmt.Errorf("reading the question: %w", err)
	}
	v, err := q.led(ctx, from, *of, ask)
	if err != nil {
		return nil, err
	}
	return json.Marshal(v)
}
