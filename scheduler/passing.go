package scheduler

// A job is skipped in a round when nobody has the memory for its next task. Where its stages ask for unlike
// memory, tasks of others may still fit: then those alone are passed over that ask for as much.

// mostPassed bounds the tasks of a job that one round passes over: each is put back when the round is over.
const mostPassed = 1024

// passing is what is passed over of the job that is shown. The zero value is nothing.
type passing struct {
	least int64 // bytes: tasks that may have as much, or more; 0 for none
	n     int   // tasks passed over
}

// skips reports whether there is less of a job to skip than all of it, and has that be passed over from now on.
func (p *passing) skips(q *queueView) bool {
	if q.at >= len(q.parts) || len(q.shown) == 0 {
		return false
	}
	last := q.shown[len(q.shown)-1]
	if last.part != q.at || last.job.flowing == nil {
		return false
	}
	memory := last.job.spec.MemoryOf(last.index)
	if least := leastMemory(last.job.spec); memory <= least || p.least > 0 && memory >= p.least {
		return false
	}
	p.least = memory
	return true
}

// passes reports whether a task is passed over.
func (q *queueView) passes(j *job, i uint64) bool {
	if q.passing.least == 0 || j.spec.MemoryOf(i) < q.passing.least || q.passing.n >= mostPassed {
		return false
	}
	q.passing.n++
	return true
}
