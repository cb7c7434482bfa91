package scheduler

import (
	"cmp"
	"math"
	"slices"
	"time"

	"godwit/scheduler/leasing"
	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
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
	return addTime(useful, u), addTime(wasted, w)
}

// mostTook bounds the CPU time that counts of one attempt: workers claim any, and a job's forecast goes by their mean.
const mostTook = 366 * 24 * time.Hour

// took returns the CPU time that counts of what a worker claims.
func took(claimed time.Duration) time.Duration { return min(max(0, claimed), mostTook) }

// addTime adds to a sum of at least 0. The sum stays within 0 and the largest duration.
func addTime(sum, d time.Duration) time.Duration {
	if d > math.MaxInt64-sum {
		return math.MaxInt64
	}
	return max(0, sum+d)
}

// took adds to what the job's tasks took, or takes from it what is negative.
func (j *job) took(useful, wasted time.Duration) {
	j.useful, j.wasted = addTime(j.useful, useful), addTime(j.wasted, wasted)
}

// costOfLog is the part of it that no results tell.
func costOfLog(row *ledger.Row) (useful, wasted time.Duration) {
	for i := range row.Log {
		l := &row.Log[i]
		cpu := took(l.CPU)
		lost := min(took(l.Lost), cpu)
		useful, wasted = addTime(useful, cpu-lost), addTime(wasted, lost)
	}
	return useful, wasted
}

// costOfResults is the part of it that results tell: those that agree were of use,
// the others were not.
func costOfResults(row *ledger.Row) (useful, wasted time.Duration) {
	for i := range row.Results {
		wasted = addTime(wasted, took(row.Results[i].CPU))
	}
	for i := range row.Failures {
		wasted = addTime(wasted, took(row.Failures[i].Result.CPU))
	}
	for _, r := range row.Agreed() {
		useful = addTime(useful, took(r.CPU))
	}
	return useful, max(0, wasted-useful)
}

// note records a placement or its end, and what it took.
func (r *reports) note(j *job, i uint64, log message.AttemptLog) bool {
	row := j.row(i)
	useful, wasted := costOfLog(row)
	if !row.Note(log) {
		return false
	}
	u, w := costOfLog(row)
	j.took(u-useful, w-wasted)
	return true
}

// tooLate counts what a run took that ended after its task had, and for which an
// estimate may have been noted.
func (r *reports) tooLate(j *job, e *message.Ending) {
	row := j.ledger.Rows[e.Result.Task.Index]
	if row != nil {
		for _, log := range row.Log {
			if log.Attempt == e.Attempt {
				correct(&log, e.Result.CPU)
				r.note(j, e.Result.Task.Index, log)
				return
			}
		}
	}
	j.took(0, took(e.Result.CPU))
}

// correct puts what an attempt's worker tells of it in the place of what was
// estimated. What a state stands for that was held then stays of use.
func correct(log *message.AttemptLog, cpu time.Duration) {
	cpu = took(cpu)
	log.CPU, log.Lost = cpu, cpu-min(cpu, log.CPU-log.Lost)
}

// unleased is the log of an attempt that ends with a result and has no lease, for
// it was thought lost.
func unleased(row *ledger.Row, worker task.PeerID, e *message.Ending, now time.Time) message.AttemptLog {
	r := &e.Result
	log := message.AttemptLog{Attempt: e.Attempt, Worker: worker, Start: task.At(now.Add(-r.Wall))}
	if k := slices.IndexFunc(row.Log, func(l message.AttemptLog) bool { return l.Attempt == e.Attempt }); k >= 0 {
		log = row.Log[k]
	}
	log.Lag = cmp.Or(log.Lag, e.Begun.Lag(log.Start.Time, now))
	log.End, log.Outcome, log.Reason = task.At(now), r.Outcome.String(), r.Message
	if r.Outcome.OwnFault() || r.Outcome == task.Completed {
		log.CPU, log.Lost = 0, 0 // its result tells it
	} else {
		correct(&log, r.CPU)
	}
	return log
}

// beganAt notes what state a new lease's attempt began with, and reports whether the
// row knows it already: then it did with what that says, not with the best there is
// now, which it may have made itself.
func (r *reports) beganAt(l *lease, row *ledger.Row) (again bool) {
	k := slices.IndexFunc(row.Log, func(a message.AttemptLog) bool { return a.Attempt == l.attempt })
	if k < 0 {
		if l.saved.from != nil {
			l.saved.began, l.saved.base = l.saved.from.Fuel, l.saved.from.CPU
		}
		return false
	}
	log := &row.Log[k]
	l.saved.began, l.saved.base = log.From, log.Saved
	// Nobody began after it who could have made the best. It was saved about as long
	// after the beginning as what it stands for takes.
	if best := l.saved.from; best != nil && k == len(row.Log)-1 && best.Fuel > l.saved.began && best.CPU > l.saved.base {
		share := 1.0
		if usual, known := usualShare(row); known {
			share = usual
		}
		if took := (best.CPU - l.saved.base).Seconds() / share; took < r.c.now.Sub(log.Start.Time).Seconds() {
			l.saved.heldAt = log.Start.Add(time.Duration(took * float64(time.Second)))
		} else {
			l.saved.heldAt = r.c.now
		}
	}
	return true
}

// spent returns the CPU time of an attempt that ends, with a result or nil, and what
// of it is lost; nothing where results tell it, or its source will.
func (r *reports) spent(l *lease, result *task.Result, outcome string) (cpu, lost time.Duration) {
	switch {
	case result != nil && (result.Outcome == task.Completed || result.Outcome.OwnFault()):
		return 0, 0
	case result != nil && l.savedAll():
		return result.CPU, 0
	case result != nil:
		cpu = max(0, result.CPU)
	case !l.is(leasing.Open): // its result is of no use, or not to be had whole
		cpu = max(0, l.ending.Result.CPU)
	case l.is(leasing.Awaits) || outcome == ledger.Moved:
		return 0, 0
	case !l.is(leasing.Runs):
		return l.heldCPU(), 0
	default:
		cpu = r.estimate(l)
	}
	j := l.job
	if j.ledger.Verdict(l.task.index) != ledger.Open { // another's result counts
		return cpu, cpu
	}
	return cpu, cpu - min(cpu, l.heldCPU())
}

// heldCPU is the CPU time that the attempt's states brought here stand for.
func (l *lease) heldCPU() time.Duration {
	best := l.heldState()
	if best == nil || l.saved.heldAt.IsZero() {
		return 0
	}
	return max(0, best.CPU-l.saved.base)
}

// estimate is what an attempt may have used of which no end is told: what its states
// stand for, and the time since the last of them until it stood still or was heard
// last, at the share of a core that it had before. Where it told none, that is what
// its task's other attempts had, and no more than its member says that others leave.
// One that is saved each so often does not do more than that without a word.
func (r *reports) estimate(l *lease) time.Duration {
	kept, since, share := l.heldCPU(), l.start, 1.0
	if w := l.host.withheld; w < 100 { // else it stands still now
		share -= float64(w) / 100
	}
	if usual, known := usualShare(l.job.ledger.Row(l.task.index)); known {
		share = min(share, usual)
	}
	if !l.saved.heldAt.IsZero() {
		since = l.saved.heldAt
		if ran := l.saved.heldAt.Sub(l.start); ran > 0 {
			share = min(1, kept.Seconds()/ran.Seconds())
		}
	}
	until := r.c.now
	ends := []time.Time{l.host.lost, l.host.still, l.expires.Add(-r.c.cfg.LeaseTTL)}
	if l.diedWithWorker() {
		ends = append(ends, time.Unix(0, l.host.born))
	}
	for _, at := range ends {
		if !at.IsZero() && at.Before(until) {
			until = at
		}
	}
	ran := max(0, until.Sub(since)-(l.host.stoodBy(until)-l.saved.stood))
	if every := l.job.spec.Checkpoint.Every; every > 0 && l.job.mayResume() {
		ran = min(ran, every)
	}
	return kept + time.Duration(share*float64(ran))
}

// diedWithWorker reports whether a lease's worker began anew after it was given, by
// the worker's clock: what is estimated alone rests on that.
func (l *lease) diedWithWorker() bool {
	return l.host.born != 0 && time.Unix(0, l.host.born).After(l.start)
}

// usualShare is the share of a core that those attempts of a task had, from lease to
// end, whose workers told what they used; not known if none did.
func usualShare(row *ledger.Row) (share float64, known bool) {
	var cpu, ran time.Duration
	for i := range row.Log {
		if l := &row.Log[i]; l.CPU > 0 && ended(l) {
			cpu, ran = cpu+l.CPU, ran+l.End.Sub(l.Start.Time)
		}
	}
	if ran <= 0 {
		return 0, false
	}
	return min(1, cpu.Seconds()/ran.Seconds()), true
}

// begins notes when the attempt of a lease began, as the word of its end tells; what
// is said again later says nothing new.
func (l *lease) begins(e *message.Ending, now time.Time) {
	if l.lag == 0 {
		l.lag = e.Begun.Lag(l.start, now)
	}
}

// ended reports whether a log has an attempt's end as its worker told it, or a move:
// anything else is the leader's suspicion.
func ended(l *message.AttemptLog) bool {
	var o task.Outcome
	return !l.End.IsZero() && (l.Outcome == ledger.Moved || o.UnmarshalText([]byte(l.Outcome)) == nil)
}
