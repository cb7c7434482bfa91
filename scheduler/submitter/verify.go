package submitter

import (
	"errors"
	"fmt"

	"godwit/scheduler/message"
	"godwit/task"
)

// checkSummary refuses an end that is not what the job asked for.
func checkSummary(j *submitted, t *message.TaskSummary, verify bool) error {
	if !t.Failed && len(t.Results) < j.spec.Replicas {
		return fmt.Errorf("%d results, the job wants %d that agree", len(t.Results), j.spec.Replicas)
	}
	workers := map[task.PeerID]bool{}
	for i := range t.Results {
		r := &t.Results[i]
		switch {
		case r.Task != task.TaskID{Job: j.id, Index: t.Index}:
			return fmt.Errorf("the result is of task %v", r.Task)
		case t.Failed:
		case r.Outcome != task.Completed:
			return fmt.Errorf("outcome %v of a task said to be done", r.Outcome)
		case workers[r.Worker]:
			return fmt.Errorf("two results of the same worker %s", r.Worker)
		case i > 0 && r.Digest() != t.Results[0].Digest():
			return errors.New("the results do not agree")
		}
		workers[r.Worker] = true
		if err := j.spec.CheckOutputs(r.Outputs); err != nil {
			return err
		}
		if verify {
			if err := r.Verify(); err != nil {
				return err
			}
		}
	}
	return nil
}
