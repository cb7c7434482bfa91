package scheduler

import (
	"time"

	"godwit/overlay"
	"godwit/scheduler/ledger"
	"godwit/task"
)

// What a job's tasks took is told by their rows, so that it outlives a leader. CPU
// time is of use if it stands in a result that counts, or in a state that was
// moved, or saved and held: the task goes on from there. The rest is lost: what runs
// that failed or were not needed took, and what an attempt did after the last state
// of it that came here. For an attempt that ended by its worker's word both are told;
// for one whose worker was lost the leader estimates what it did, see estimate.

// cost adds up what the runs of an ended task took.
func cost(row *ledger.Row) (useful, wasted time.Duration) {
	useful, wasted = costOfResults(row)
	u, w := costOfLog(row)
	return useful + u, wasted + w
}

// costOfLog is the part of it that no results tell.
func costOfLog(row *ledger.Row) (useful, wasted time.Duration) {
	for i := range row.Log {
		l := &row.Log[i]
		useful, wasted = useful+l.CPU-l.Lost, wasted+l.Lost
	}
	return useful, wasted
}

// costOfResults is the part of it that results tell: those that agree were of use,
// the others were not.
func costOfResults(row *ledger.Row) (useful, wasted time.Duration) {
	for i := range row.Results {
		wasted += row.Results[i].CPU
	}
	for i := range row.Failures {
		wasted += row.Failures[i].Result.CPU
	}
	for _, r := range row.Agreed() {
		useful += r.CPU
	}
	return useful, wasted - useful
}

// note records a placement or its end, and what it took.
func (c *Coordinator) note(j *job, i uint64, log AttemptLog) bool {
	row := j.row(i)
	useful, wasted := costOfLog(row)
	if !row.Note(log) {
		return false
	}
	u, w := costOfLog(row)
	j.useful, j.wasted = j.useful+u-useful, j.wasted+w-wasted
	return true
}

// tooLate counts what a run took that ended after its task had, and for which an
// estimate may have been noted.
func (c *Coordinator) tooLate(j *job, e *Ending) {
	row := j.ledger.Rows[e.Result.Task.Index]
	if row != nil {
		for _, log := range row.Log {
			if log.Attempt == e.Attempt {
				log.CPU, log.Lost = max(0, e.Result.CPU), max(0, e.Result.CPU)
				c.note(j, e.Result.Task.Index, log)
				return
			}
		}
	}
	j.wasted += max(0, e.Result.CPU)
}

// spent returns the CPU time of an attempt that ends, with a result or nil, and what
// of it is lost; nothing where results tell it, or its source will.
func (c *Coordinator) spent(l *lease, r *task.Result, outcome string) (cpu, lost time.Duration) {
	switch {
	case r != nil && (r.Outcome == task.Completed || r.Outcome.OwnFault()):
		return 0, 0
	case r != nil && l.savedAll():
		return r.CPU, 0
	case r != nil:
		cpu = max(0, r.CPU)
	case !l.running || l.awaits || outcome == ledger.Moved:
		return 0, 0
	default:
		cpu = c.estimate(l)
	}
	j := l.job
	if j.ledger.Verdict(l.task.index) != ledger.Open { // another's result counts
		return cpu, cpu
	}
	return cpu, cpu - min(cpu, l.heldCPU())
}

// heldCPU is the CPU time that the attempt's states brought here stand for.
func (l *lease) heldCPU() time.Duration {
	best := l.job.ledger.Row(l.task.index).Best
	if best == nil || l.heldAt.IsZero() {
		return 0
	}
	return max(0, best.CPU-l.base)
}

// estimate is what an attempt may have used of which no end is told: what its states
// stand for, and the time since the last of them until it stood still or was heard
// last, at the share of a core that it had before: where it told none what its member
// says that others leave. One that is saved each so often does not do more than that
// without a word.
func (c *Coordinator) estimate(l *lease) time.Duration {
	kept, since, share := l.heldCPU(), l.start, 1.0
	if w := l.host.withheld; w < 100 { // else it stands still now
		share -= float64(w) / 100
	}
	if ran := l.heldAt.Sub(l.start); !l.heldAt.IsZero() && ran > 0 {
		since, share = l.heldAt, min(1, kept.Seconds()/ran.Seconds())
	}
	until := c.now
	for _, at := range []time.Time{l.host.lost, l.host.still, l.expires.Add(-c.cfg.LeaseTTL)} {
		if !at.IsZero() && at.Before(until) {
			until = at
		}
	}
	ran := max(0, until.Sub(since))
	if every := l.job.spec.Checkpoint.Every; every > 0 && l.job.mayResume() {
		ran = min(ran, every)
	}
	return kept + time.Duration(share*float64(ran))
}

// standsStill notes since when what the host runs is stopped by its owner.
func (h *host) standsStill(now time.Time) {
	switch still := h.slots == 0 && h.state != overlay.Leaving && h.state != overlay.Available; {
	case !still:
		h.still = time.Time{}
	case h.still.IsZero():
		h.still = now
	}
}
