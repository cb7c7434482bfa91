package worker

import (
	"slices"
	"time"

	"godwit/scheduler/message"
	"godwit/scheduler/timer"
	"godwit/task"
)

// jobs are those that this worker was given tasks of, for keep after the last of them.
type jobs struct {
	keep   time.Duration
	known  map[task.JobID]*workerJob
	timers timer.Queue[task.JobID]
}

// A workerJob is a job that this worker was given tasks of.
type workerJob struct {
	id        task.JobID
	spec      *task.Job   // nil until prepared
	submitter task.PeerID // "" until then, and where it is not known
	key       []byte      // by the leader's word
	leases    int         // of held
	idle      time.Time   // since when leases is 0
}

// of returns the job, and has it prepared if it is new.
func (js *jobs) of(id task.JobID, holders []task.PeerID, key []byte, out *effects) *workerJob {
	j := js.known[id]
	if j == nil {
		j = &workerJob{id: id, key: key}
		js.known[id] = j
		out.emit(message.Prepare{Job: id, Holders: slices.Clone(holders), Key: key})
	}
	return j
}

// idleSince notes that a job may have no task here any more.
func (js *jobs) idleSince(j *workerJob, now time.Time) {
	if j.leases == 0 {
		j.idle = now
		js.timers.Set(now.Add(js.keep), j.id)
	}
}

// without notes that a job has a task less here. One that has none is not prepared to its
// end.
func (js *jobs) without(j *workerJob, now time.Time, out *effects) {
	if j.leases == 0 && j.spec == nil && js.known[j.id] == j {
		delete(js.known, j.id)
		out.emit(message.Release{Job: j.id})
		return
	}
	js.idleSince(j, now)
}

// releaseIdle lets go of jobs that had no task here for long.
func (js *jobs) releaseIdle(now time.Time, out *effects) {
	for {
		id, ok := js.timers.Due(now)
		if !ok {
			return
		}
		j := js.known[id]
		if j != nil && j.spec != nil && j.leases == 0 && !now.Before(j.idle.Add(js.keep)) {
			delete(js.known, id)
			out.emit(message.Release{Job: id})
		}
	}
}
