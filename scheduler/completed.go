package scheduler

// completed is the share of a running task's expected work that is done, 0 to 1: that of the run that is farthest. It is 0
// if nobody knows how much work the task is. The work is what the job's other tasks took, else what its owner wrote. A
// task that takes longer than expected stays at .9: see tailOverrun.
func (c *Coordinator) completed(j *job, i uint64) (share float64) {
	t := j.live[i]
	work, known := j.workOf(i)
	if t == nil || !known {
		return 0
	}
	for _, l := range t.leases {
		left, _ := c.migration.progressOf(l, work)
		share = max(share, 1-float64(left)/float64(work))
	}
	return share
}
