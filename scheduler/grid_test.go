package scheduler

import (
	"fmt"

	"godwit/scheduler/message"
)

// checkGrid holds the grids of a job to the states of its tasks, one by one, and to its summary.
func checkGrid(c *Coordinator, j *job) error {
	each, ok := Grid(c, j.id, message.MaxBins)
	if !ok || j.total > message.MaxBins {
		return nil
	}
	for i := range j.total {
		b := each.Bins[i]
		got := map[string]uint64{"waiting": b.Waiting, "running": b.Running, "done": b.Done, "failed": b.Failed}
		if want := j.taskState(i); got[want] != 1 || !each.Fits(message.MaxBins) {
			return fmt.Errorf("task %d is %s, and shown as %v", i, want, got)
		}
	}
	few, _ := Grid(c, j.id, 3)
	var sum message.Bin
	for _, b := range few.Bins {
		sum.Waiting, sum.Running, sum.Done, sum.Failed = sum.Waiting+b.Waiting, sum.Running+b.Running, sum.Done+b.Done,
			sum.Failed+b.Failed
	}
	s := j.summary()
	if want := (message.Bin{Waiting: s.Waiting, Running: s.Running, Done: s.Done, Failed: s.Failed}); sum != want {
		return fmt.Errorf("the bins have %+v, the job has %+v", sum, want)
	}
	return nil
}
