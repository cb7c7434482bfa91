package scheduler

import (
	"iter"

	"godwit/task"
)

// OpenRecords returns the records of the jobs that this coordinator has
// accepted and whose submitters do not yet hold every result, in the order
// they came. A coordinator that steps down offers them to its successor.
func (c *Coordinator) OpenRecords() []task.Record {
	var out []task.Record
	for _, j := range c.inOrder() {
		if !j.told {
			out = append(out, j.ledger.Record)
		}
	}
	return out
}

// ResultsFrom is like Results for the tasks from index from on.
func (s *Submitter) ResultsFrom(id task.JobID, from uint64) iter.Seq[TaskSummary] {
	if j := s.jobs[id]; j != nil {
		return s.resultsFrom(j, from)
	}
	return func(func(TaskSummary) bool) {}
}
