package scheduler

import (
	"strconv"

	"godwit/scheduler/ledger"
	"godwit/task"
)

// mayResume says whether an attempt may go on from another's checkpoint. Where
// replicas must agree each has to run from the beginning: a false state would
// make all of them wrong alike.
func (j *job) mayResume() bool { return j.spec.Replicas <= 1 && !j.spec.Checkpoint.Off }

// savedBy brings a checkpoint of a lease here. It counts once its blocks are
// held and the row that names it is durable: it must not vanish with its worker.
func (c *Coordinator) savedBy(h *host, s *SavedState) {
	j := c.current(s.Task)
	if j == nil || !s.Checkpoint.Valid() || !j.mayResume() || j.state != jobOpen || j.ledger.Verdict(s.Task.Index) != ledger.Open {
		return
	}
	l := leaseOf(j, h, s.Task.Index, s.Attempt)
	row := j.ledger.Rows[s.Task.Index]
	if l == nil || l.ending != nil || l.saving > 0 || row != nil && row.Best != nil && row.Best.Fuel >= s.Checkpoint.Fuel {
		return
	}
	l.saving = s.Checkpoint.Fuel
	saved := s.Checkpoint
	key := taskKey(coordinatorPrefix+"k/", s.Task) + "/" + strconv.FormatUint(s.Attempt.Epoch, 10) + "." + strconv.FormatUint(s.Attempt.Seq, 10)
	c.fetch(&fetching{key: key, job: j, lease: l, saved: &saved}, []task.CID{saved.CID}, []task.PeerID{h.peer})
}

// checkpointFetched makes a checkpoint a fact. One that could not be had is
// forgotten: the worker names its newest again in its next full report.
func (c *Coordinator) checkpointFetched(f *fetching, failure string) {
	f.lease.saving = 0
	i := f.lease.task.index
	if c.jobs[f.job.id] != f.job || f.job.state != jobOpen || f.job.ledger.Verdict(i) != ledger.Open {
		return
	}
	id := task.TaskID{Job: f.job.id, Index: i}
	if failure != "" {
		c.decided(id, "not saved", f.lease.host.peer, task.ClipMessage("fetching its checkpoint failed: "+failure))
		return
	}
	row := f.job.row(i)
	if !row.Save(f.saved) {
		return
	}
	c.persistRow(f.job, i)
	c.hold(HoldName{id, HoldState}, false)
	c.decided(id, "saved", f.lease.host.peer, "a checkpoint is held here")
}
