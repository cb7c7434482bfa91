package client

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"godwit/blocks/seal"
	"godwit/lab/submission"
	"godwit/scheduler/message"
	"godwit/task"
)

// A Task is one task of a job that has ended.
type Task struct {
	message.TaskStatus
	// Outputs are what it wrote, by name: task.Stdout, task.Stderr and files.
	Outputs []task.Output

	client *Client
	sealer *seal.Sealer
}

// ErrNoOutput is returned for an output that a task does not have.
var ErrNoOutput = errors.New("client: no such output")

// Read returns what an output holds, after checking that it is what the worker signed.
func (t *Task) Read(ctx context.Context, name string) ([]byte, error) {
	for _, o := range t.Outputs {
		if o.Name == name {
			return submission.Content(ctx, t.client.API, t.sealer, o)
		}
	}
	return nil, fmt.Errorf("%w: %q of task %d", ErrNoOutput, name, t.Index)
}

// errEnough ends a walk over results that nobody wants more of.
var errEnough = errors.New("client: enough")

// Tasks walks over the tasks of a job that have ended, in order, failed ones too: those whose results the node has now.
// Each result is checked: that it is the job's, that its outputs are such as the job asks for, that a worker signed it.
func (c *Client) Tasks(ctx context.Context, id task.JobID) iter.Seq2[Task, error] {
	return func(yield func(Task, error) bool) {
		err := submission.EachTask(ctx, c.API, string(id),
			func(spec *task.Job, sealer *seal.Sealer, s message.TaskSummary) error {
				t := Task{TaskStatus: s.Status(spec), client: c, sealer: sealer}
				if len(s.Results) > 0 {
					t.Outputs = s.Results[0].Outputs
				}
				if !yield(t, nil) {
					return errEnough
				}
				return nil
			})
		if err != nil && !errors.Is(err, errEnough) {
			yield(Task{}, err)
		}
	}
}
