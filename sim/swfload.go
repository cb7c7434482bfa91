package sim

import (
	"time"

	"godwit/trace"
)

// The Standard Workload Format's status values that matter here (version 2.2).
const (
	swfPartial     = 2 // of a job that was checkpointed and swapped out: to be continued
	swfPartialDone = 3 // its last part, completed
	swfPartialFail = 4 // its last part, failed
)

// kibi is the unit of the format's memory fields.
const kibi = 1024

// A logReader replays a log of jobs by these rules:
//
//   - a job comes at its submission, with as many tasks as it was allocated
//     processors (as it asked for, where that is not known; else one);
//   - each task is the job's run time long on the reference core, as if the
//     processors had not waited for each other, and takes the memory used by
//     each processor (that asked for, where that is not known; else none);
//   - jobs without a run time were cancelled before they started, or it is not
//     known: they are left out. Those that failed or were cancelled later count
//     for as long as they ran;
//   - lines of parts of a job (status 2 to 4) are left out, because the whole job
//     has a line too;
//   - jobs submitted before the time at which the replay begins are left out.
type logReader struct {
	jobs []trace.Job
	from float64 // seconds of the log at Start
}

func newLogReader(l *trace.Workload, from float64) *logReader { return &logReader{l.Jobs, from} }

// nextOfLog moves on to the next job of the log that ran.
func (st *stream) nextOfLog() bool {
	l := st.log
	for len(l.jobs) > 0 {
		j := &l.jobs[0]
		l.jobs = l.jobs[1:]
		if j.Submit < l.from || !ran(j) {
			continue
		}
		st.at, st.work = nanoseconds(j.Submit-l.from), max(1, nanoseconds(j.RunTime))
		st.tasks, st.memory = int(processors(j)), memoryOf(j)
		st.jobs++
		return st.at < st.span
	}
	return false
}

func ran(j *trace.Job) bool {
	return j.RunTime > 0 && j.Status != swfPartial && j.Status != swfPartialDone && j.Status != swfPartialFail
}

func processors(j *trace.Job) int64 {
	n := j.Procs
	if n < 1 {
		n = j.ReqProcs
	}
	return min(max(n, 1), maxTasks)
}

func memoryOf(j *trace.Job) int64 {
	kb := j.MemoryKB
	if !(kb > 0) {
		kb = j.ReqMemoryKB
	}
	if !(kb > 0) {
		return 0
	}
	return int64(min(kb*kibi, float64(maxBytes)))
}

// nanoseconds is a log's time, at most longest.
func nanoseconds(s float64) time.Duration {
	return time.Duration(min(s*float64(time.Second), float64(longest)))
}
