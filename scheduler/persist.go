package scheduler

import (
	"time"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/scheduler/replication"
	"godwit/task"
)

// A jobTable is the jobs that the coordinator knows.
type jobTable struct {
	c *Coordinator

	jobs map[task.JobID]*job
	// accounts are of the submitters that have a job in jobs.
	accounts map[task.PeerID]*account
	// heard are the jobs of submitters that have spoken, told all others.
	heard, told pile
	arrived     uint64 // jobs ever taken in
	fetches     map[string]*fetching
	kept        []task.TaskID // delivered tasks whose rows are still here, oldest first
	// undelivered is the sum of the jobs' weights.
	undelivered int64
	// ending are jobs that end once nothing of them runs: see stopGiving. nil for none.
	ending map[task.JobID]bool
}

func (t *jobTable) persistRecord(j *job) {
	t.c.emit(message.Persist{Key: coordinatorPrefix + ledger.JobKey(j.id), Value: j.ledger.Record.Whole()})
	t.c.replicas.Changed(replication.Key{Job: j.id, Kind: replication.Record})
}

func (t *jobTable) persistFacts(j *job) {
	value, err := j.ledger.Facts.Encode()
	if err != nil {
		t.unkept(task.TaskID{Job: j.id}, err)
		return
	}
	t.c.emit(message.Persist{Key: coordinatorPrefix + ledger.FactsKey(j.id), Value: value})
	t.c.replicas.Changed(replication.Key{Job: j.id, Kind: replication.Facts})
}

func (t *jobTable) persistRow(j *job, i uint64) {
	id := task.TaskID{Job: j.id, Index: i}
	value, err := j.ledger.Rows[i].Encode()
	if err != nil {
		t.unkept(id, err)
		return
	}
	t.c.emit(message.Persist{Key: coordinatorPrefix + ledger.RowKey(id), Value: value})
	t.c.replicas.RowChanged(id, value)
	if !j.ledger.Delivered(i) && j.ledger.Verdict(i) != ledger.Open {
		t.weigh(j, i, len(value))
	}
}

// unkept says that something could not be made durable. It is as it was on disk and at the
// followers, who hear of it with the next change that can be told.
func (t *jobTable) unkept(id task.TaskID, err error) {
	t.c.decided(id, "not kept", "", task.ClipMessage(err.Error()))
}

func (t *jobTable) armDeadline(j *job) {
	if at, ok := j.deadline(); ok {
		t.c.timers.Set(at, reminder{job: j.id})
	}
}

func (j *job) deadline() (time.Time, bool) { return deadlineOf(j.spec) }

// deadlineOf returns when a job expires, if it ever does.
func deadlineOf(spec *task.Job) (time.Time, bool) {
	return spec.Submitted.Add(spec.Deadline), spec.Deadline > 0
}
