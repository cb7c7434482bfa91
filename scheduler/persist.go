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

	jobs    map[task.JobID]*job
	arrived uint64 // jobs ever taken in
	fetches map[string]*fetching
	kept    []task.TaskID // delivered tasks whose rows are still here, oldest first
	// undelivered is the sum of the jobs' weights.
	undelivered int64
}

func (t *jobTable) persistRecord(j *job) {
	t.c.emit(message.Persist{Key: coordinatorPrefix + ledger.JobKey(j.id), Value: j.ledger.Record.Encode()})
	t.c.replicas.Changed(replication.Key{Job: j.id, Kind: replication.Record})
}

func (t *jobTable) persistFacts(j *job) {
	t.c.emit(message.Persist{Key: coordinatorPrefix + ledger.FactsKey(j.id), Value: j.ledger.Facts.Encode()})
	t.c.replicas.Changed(replication.Key{Job: j.id, Kind: replication.Facts})
}

func (t *jobTable) persistRow(j *job, i uint64) {
	id := task.TaskID{Job: j.id, Index: i}
	value := j.ledger.Rows[i].Encode()
	t.c.emit(message.Persist{Key: coordinatorPrefix + ledger.RowKey(id), Value: value})
	t.c.replicas.Changed(replication.Key{Job: j.id, Index: i, Kind: replication.Row})
	if !j.ledger.Delivered(i) && j.ledger.Verdict(i) != ledger.Open {
		t.weigh(j, i, len(value))
	}
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
