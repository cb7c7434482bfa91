package scheduler

import (
	"fmt"

	"godwit/task"
)

// What one submitter may have at a leader of an open overlay. Nobody's jobs are dropped for
// it: what is beyond is not taken in.
const (
	// maxJobsEach is a hundredth of what a leader has by default: so it takes a hundred keys
	// to fill one.
	maxJobsEach = 100
	// maxTasksEach is what one job may have: a task that waits costs nothing before it is
	// placed.
	maxTasksEach = task.MaxTasks
	// maxRecordsEach bounds the records of jobs, in bytes. They are kept by the whole group,
	// and take several times as much of memory. An honest one has some kilobytes.
	maxRecordsEach = 64 << 20
	// maxRecordsAll is the same of all submitters together.
	maxRecordsAll = 4 * maxRecordsEach
	// reservedPart of all room is for submitters that have nothing here: an eighth.
	reservedPart = 8
)

// A pile is jobs with their records: how many jobs, and how large they are together, in bytes.
type pile struct {
	jobs  int
	bytes int64
}

func (p *pile) add(jobs int, bytes int64) { p.jobs, p.bytes = p.jobs+jobs, p.bytes+bytes }

// pileOf returns the pile that an account's jobs are in: those of submitters that have
// spoken are apart from those of whom others told.
func (t *jobTable) pileOf(a *account) *pile {
	if a.heard {
		return &t.heard
	}
	return &t.told
}

// beyond says why a leader of an open overlay has no room for one more job of its
// submitter, and what to do; "" if it has. Where two sides of a split have met, sides is 2.
func (t *jobTable) beyond(spec *task.Job, submitter task.PeerID, bytes int64, sides int) string {
	a := t.accounts[submitter]
	if !t.c.cfg.Rules.Open || a == nil {
		return ""
	}
	for a.own.jobs >= maxJobsEach*sides || a.own.bytes+bytes > maxRecordsEach*int64(sides) {
		if !t.forgetOldest(a) {
			return fmt.Sprintf("its submitter has %d jobs, with %s of records, at the leader, and in an open overlay one has "+
				"at most %d and %s: it is taken when one of them is over or cancelled", a.own.jobs,
				task.FormatSize(a.own.bytes), maxJobsEach, task.FormatSize(maxRecordsEach))
		}
	}
	left, n := uint64(maxTasksEach)*uint64(sides), spec.Tasks()
	for _, j := range a.jobs {
		if j.state != jobOver {
			n += min(j.total, maxTasksEach) - min(j.total, j.done+j.failed)
		}
	}
	if n > left {
		return fmt.Sprintf("its submitter would have %d tasks at the leader, and in an open overlay one has at most %d: "+
			"it is taken when others are over or cancelled", n, left)
	}
	return ""
}

// full says why a leader takes no more jobs of anybody, or of one submitter; "" if it does.
func (t *jobTable) full(submitter task.PeerID, bytes int64) string {
	most, mostBytes := t.c.cfg.MaxJobs, int64(maxRecordsAll)
	there := pile{jobs: len(t.jobs)}
	if t.c.cfg.Rules.Open {
		there = t.heard
		if t.accounts[submitter] != nil {
			most, mostBytes = most-most/reservedPart, mostBytes-mostBytes/reservedPart
		}
	}
	if there.jobs < most && there.bytes+bytes <= mostBytes {
		return ""
	}
	if t.forgetOldest(nil) {
		return t.full(submitter, bytes)
	}
	return fmt.Sprintf("the leader has %d jobs, and takes no more for now", there.jobs)
}

// fullOfTold says why no more jobs are taken in of which others than their submitters tell.
func (t *jobTable) fullOfTold(bytes int64) string {
	if len(t.jobs) >= 2*t.c.cfg.MaxJobs { // as many as two sides of a split have
		return fmt.Sprintf("the leader has %d jobs", len(t.jobs))
	}
	if t.c.cfg.Rules.Open && t.told.bytes+bytes > maxRecordsAll {
		return fmt.Sprintf("the leader has %s of records of submitters that it has not heard",
			task.FormatSize(t.told.bytes))
	}
	return ""
}

// forgetOldest makes room for a new job: it drops the oldest one, of an account or with nil
// of all, whose submitter was told that it has everything, and reports whether there was one.
func (t *jobTable) forgetOldest(of *account) bool {
	jobs := t.jobs
	if of != nil {
		jobs = of.jobs
	}
	var oldest *job
	for _, j := range jobs {
		if j.told && j.state != jobFetching && (oldest == nil || j.arrival < oldest.arrival) {
			oldest = j
		}
	}
	if oldest != nil {
		t.forget(oldest)
	}
	return oldest != nil
}
