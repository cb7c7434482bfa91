package scheduler

import (
	"time"

	"godwit/scheduler/learning"
	"godwit/scheduler/message"
	"godwit/task"
)

// Tasks of one stage are alike in what they take, and may be unlike those of another: each stage has means of
// its own. What is asked of a whole job is answered by the means of all its tasks.

// leastMemory is what those tasks of a job may have that may have the least, and mostMemory the most, in bytes.
func leastMemory(spec *task.Job) int64 { least, _ := spec.Memories(); return least }
func mostMemory(spec *task.Job) int64  { _, most := spec.Memories(); return most }

// memory is what the task of a lease may have, in bytes.
func (l *lease) memory() int64 { return l.job.spec.MemoryOf(l.task.index) }

// durationOf is how long a task takes, as duration is of the tasks of a job.
func (j *job) durationOf(i uint64) (d time.Duration, known bool) {
	if d, known := measuredOf(j, i); known {
		return d, true
	}
	d = j.spec.WorkOf(i)
	return d, d > 0
}

// measuredOf is the mean of what tasks took, of the stage of a task, or of the job; not known before one ended.
func measuredOf(j *job, i uint64) (d time.Duration, known bool) {
	e := learntOf(j, i)
	return e.mean, e.measured
}

// workOf is what a task takes on the reference core, as work is of the tasks of a job.
func (j *job) workOf(i uint64) (d time.Duration, known bool) {
	if e := learntOf(j, i); e.reference > 0 {
		return e.reference, true
	}
	d = j.spec.WorkOf(i)
	return d, d > 0
}

// learntOf are the means of a task's stage, or of the job.
func learntOf(j *job, i uint64) *times {
	if j.flowing == nil {
		return &j.times
	}
	stage, _ := j.spec.StageOf(i)
	return &j.takes[stage]
}

// learnTimes takes a completed run into the means of the job, and of the task's stage.
func learnTimes(j *job, i uint64, l *lease, r *task.Result) {
	j.times.learn(l, r)
	if e := learntOf(j, i); e != &j.times {
		e.learn(l, r)
	}
}

// times are running means of what tasks take; 0 before one was measured.
type times struct {
	mean      time.Duration // of wall time, once measured
	measured  bool
	reference time.Duration // of work, in time of the reference core
}

// learn takes in how long a run took, and its work if it is one from its beginning; l is its lease, nil if
// it had none.
func (t *times) learn(l *lease, r *task.Result) {
	t.measure(r.Wall)
	if l == nil || l.saved.from != nil || l.after != (message.Attempt{}) || r.CPU <= 0 {
		return
	}
	d := time.Duration(float64(r.CPU) * l.host.usual())
	if t.reference == 0 {
		t.reference = d
		return
	}
	t.reference += (d - t.reference) / learning.Weight
}

func (t *times) measure(d time.Duration) {
	if !t.measured {
		t.mean, t.measured = d, true
		return
	}
	t.mean += (d - t.mean) / learning.Weight
}
