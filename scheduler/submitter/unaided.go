package submitter

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// A leader may lease nothing of a job, or lease it to itself and its friends and keep what they make. No
// word of the submitter's deposes it, which could as well be a lie about a leader that serves others first. But the
// submitter's own machine can run the job, whoever leads: when nothing came of it for long it runs tasks itself, one
// at a time, in a core that is idle. An honest leader would have leased something to that core. It begins with the task
// that a leader comes to last, and says of each that it holds the result, as of any other.

const (
	// unaidedRuns is how many times as long as a task takes nothing may come, at least: what is leased ends before.
	unaidedRuns = 2
	// unaidedMost is the longest that nothing may come, however long tasks are said to take.
	unaidedMost = withheldMost
	// unaidedPace is how many times as long as a task takes may pass between two results in the long run: a leader
	// that gives a job less than a quarter of a core has this node's idle one help. So one that brings a result
	// now and then gains no time by it.
	unaidedPace = 4
	// unaidedTries is how often a task may be ended by this machine before others are tried.
	unaidedTries = 3
)

// unaidedTimer begins the keys of the timers that remind of it.
const unaidedTimer = "unaided/"

// unaided are the tasks of its own jobs that a node runs because nothing comes of them, one at a time.
type unaided struct {
	s      *Submitter
	memory int64               // bytes that this machine lends; 0 for no limit
	due    map[task.JobID]bool // jobs of which nothing came for too long
	at     task.TaskID         // what runs
	runs   bool
	told   bool // that it is not wanted any more
}

// ownRuns is what a job has of them. The zero value is of a job that was not offered yet.
type ownRuns struct {
	until time.Time // for when something is to come; zero for not offered
	last  time.Time // when something new came, or the job was offered
	alarm time.Time // for when a timer is set; zero for none
	rest  time.Time // before which no task begins, since one came to nothing here
	pause time.Duration
	n     uint64     // results that this node made
	tries int        // of the task at hand that this machine ended
	vain  ledger.Set // tasks that could not be run here, until all others are tried
	why   string     // that is so; "" for not
	// failures are those of the task at hand, by its own fault.
	failures []task.Result
	of       uint64 // the task at hand, if one was begun
	begun    bool
}

// patience is for how long nothing may come of a job.
func (u *unaided) patience(j *submitted) time.Duration {
	return min(max(backups{u.s}.patience(j), unaidedRuns*min(u.takes(j), unaidedMost)), unaidedMost)
}

// takes is about what a task of a job takes: as measured here, else as its workers claim, but no longer than the job
// exists, else as its owner says; 0 for not known.
func (u *unaided) takes(j *submitted) time.Duration {
	if mean := j.measured(); mean > 0 {
		return mean
	}
	if claimed := j.withheld.takes; claimed > 0 {
		return min(claimed, max(0, u.s.now.Sub(j.spec.Submitted.Time)))
	}
	return j.spec.Work
}

// watch begins the wait for what comes of a job.
func (u *unaided) watch(j *submitted) {
	if o := &j.withheld.own; u.s.cfg.Unaided && o.until.IsZero() {
		o.last = u.s.now
		o.until = u.s.now.Add(u.patience(j))
		u.arm(j, o.until)
	}
}

// brought takes in that something new came of a job from others.
func (u *unaided) brought(j *submitted) {
	o := &j.withheld.own
	if o.until.IsZero() {
		return
	}
	patience, now := u.patience(j), u.s.now
	o.last = now
	more := patience
	if took := u.takes(j); took > 0 {
		more = min(patience, unaidedPace*took)
	}
	o.until = later(o.until, now.Add(-patience)).Add(more)
	u.clip(j)
}

// clip has nothing be waited for longer than tasks are now known to take, which may be less than was thought.
func (u *unaided) clip(j *submitted) {
	o := &j.withheld.own
	if most := u.s.now.Add(u.patience(j)); o.until.After(most) {
		o.until = most
		u.arm(j, most)
	}
}

// arm has a job be looked at by then.
func (u *unaided) arm(j *submitted, at time.Time) {
	if o := &j.withheld.own; o.alarm.IsZero() || at.Before(o.alarm) {
		o.alarm = at
		u.s.timers.Set(at, unaidedTimer+string(j.id))
	}
}

// wake looks at a job; nil for one that is gone.
func (u *unaided) wake(j *submitted) {
	if j == nil || u.s.now.Before(j.withheld.own.alarm) {
		return
	}
	j.withheld.own.alarm = time.Time{}
	switch {
	case j.state.Final:
	case u.isLate(j):
		u.due[j.id] = true
	default: // an own leader, or one that has brought something
		u.arm(j, later(j.withheld.own.until, u.s.now.Add(u.patience(j)/unaidedRuns)))
	}
}

// isLate reports whether nothing came of a job for so long that this node helps itself. A leader that is this node
// needs no help.
func (u *unaided) isLate(j *submitted) bool {
	until := j.withheld.own.until
	return u.s.cfg.Unaided && !until.IsZero() && !u.s.now.Before(until) && u.s.leader != u.s.self && u.open(j)
}

// open reports whether tasks of a job may begin.
func (u *unaided) open(j *submitted) bool {
	return !j.state.Final && !j.state.Cancelled && !j.state.Ending && j.state.Error == "" && !j.reusing.waits &&
		!j.ended(u.s.now) && j.have.Count() < j.total
}

// lends reports whether this machine lends a core.
func (u *unaided) lends() bool { return u.s.audits.abroad.lends && u.s.audits.abroad.heard }

// begin has a task run, if one is due and none does.
func (u *unaided) begin() {
	if u.runs {
		u.giveUp()
		return
	}
	if !u.lends() { // an OwnerState says when it does
		return
	}
	if !u.anyDue() {
		return
	}
	for _, id := range slices.Sorted(maps.Keys(u.due)) {
		j := u.s.jobs[id]
		switch {
		case j == nil || j.state.Final:
			delete(u.due, id)
		case !u.isLate(j):
			delete(u.due, id)
			u.arm(j, later(j.withheld.own.until, u.s.now.Add(u.s.timing.RetryMax)))
		case u.s.now.Before(j.withheld.own.rest):
		case u.start(j):
			return
		}
	}
}

// anyDue reports whether any job that is due does more than rest. It is asked in each step, mostly in vain.
func (u *unaided) anyDue() bool {
	for id := range u.due {
		if j := u.s.jobs[id]; j == nil || j.state.Final || !u.isLate(j) || !u.s.now.Before(j.withheld.own.rest) {
			return true
		}
	}
	return false
}

// giveUp ends what runs, if nobody wants it any more.
func (u *unaided) giveUp() {
	j := u.s.jobs[u.at.Job]
	if !u.told && (j == nil || !u.open(j) || j.have.Contains(u.at.Index)) {
		u.told = true
		u.s.emit(message.Unneeded{Task: u.at})
	}
}

// start has a task of a job run, and reports whether there is one.
func (u *unaided) start(j *submitted) bool {
	o := &j.withheld.own
	i, why := u.choose(j)
	if why != "" {
		o.why, o.vain = why, nil
		u.pause(j, u.s.timing.RetryMax)
		return false
	}
	if o.of != i || !o.begun {
		o.of, o.begun, o.tries, o.failures = i, true, 0, nil
		u.s.emit(message.Decided{Task: task.TaskID{Job: j.id, Index: i}, Action: "run by its submitter",
			Peer: u.s.leader, Reason: "nothing that suffices came of the job since " +
				o.last.UTC().Format(time.DateTime)})
	}
	u.at, u.runs, u.told = task.TaskID{Job: j.id, Index: i}, true, false
	u.s.emit(message.Audit{Task: u.at, Key: j.record.Key, First: true})
	u.s.emit(message.JobChanged{Job: j.id})
	return true
}

// pause has no task of a job begin for a while.
func (u *unaided) pause(j *submitted, d time.Duration) {
	j.withheld.own.rest = u.s.now.Add(d)
	u.arm(j, j.withheld.own.rest)
}

// choose returns the last task of a job that can be run here: one that nobody has, or else any that is missing; or
// why there is none.
func (u *unaided) choose(j *submitted) (i uint64, why string) {
	missing := ledger.Set{{From: 0, To: j.total}}.Minus(j.have).Minus(j.withheld.own.vain)
	for _, set := range []ledger.Set{missing.Minus(j.lent()).Minus(u.onTheirWay(j)), missing} {
		if i, why = u.lastOf(j, set); why == "" {
			return i, ""
		}
	}
	return 0, cmp.Or(j.withheld.own.why, why)
}

// onTheirWay are tasks whose results came and whose outputs did not yet.
func (u *unaided) onTheirWay(j *submitted) (out ledger.Set) {
	if j.fetching > 0 {
		for _, f := range u.s.fetches {
			if f.job == j {
				out.Add(f.summary.Index)
			}
		}
	}
	return out
}

// lastOf returns the last task of a set that can be run here.
func (u *unaided) lastOf(j *submitted, set ledger.Set) (i uint64, why string) {
	why = "none of its tasks can be run here for now"
	for k := max(1, len(j.spec.Stages)) - 1; k >= 0; k-- {
		from, to := uint64(0), j.total
		if len(j.spec.Stages) > 0 {
			from, to = j.spec.StageRange(k)
		}
		last, any := lastIn(set, from, to)
		memory := j.spec.MemoryOf(last)
		switch {
		case !any:
		case len(j.spec.Stages) > 0 && len(j.spec.Stages[k].Needs) > 0:
			why = "what is left reads what other tasks made, and such tasks run with a leader alone"
		case u.memory > 0 && memory > u.memory:
			why = fmt.Sprintf("a task may take %s of memory, and this machine lends %s", task.FormatSize(memory),
				task.FormatSize(u.memory))
		default:
			return last, ""
		}
	}
	return 0, why
}

// lastIn returns the last of a set between two tasks, the latter beyond it.
func lastIn(set ledger.Set, from, to uint64) (uint64, bool) {
	for _, r := range slices.Backward(set) {
		if r.From < to && r.To > from {
			return min(r.To, to) - 1, true
		}
	}
	return 0, false
}

// ended takes in what a task came to that ran here.
func (u *unaided) ended(ev *message.Audited) {
	if !u.runs || ev.Task != u.at {
		return
	}
	u.runs = false
	j, here := u.s.jobs[ev.Task.Job], &ev.Here
	if j == nil || !u.open(j) || j.have.Contains(ev.Task.Index) {
		return
	}
	o := &j.withheld.own
	err := j.spec.CheckResult(here)
	switch {
	case here.Outcome == task.Completed && err == nil:
		u.hold(j, &message.TaskSummary{Index: ev.Task.Index, Results: []task.Result{*here}})
	case here.Outcome.OwnFault() && err == nil:
		if o.failures = append(o.failures, *here); len(o.failures) > j.spec.Retries || j.rule().Certain(o.failures) {
			u.hold(j, &message.TaskSummary{Index: ev.Task.Index, Failed: true, Results: o.failures,
				Reason: here.Outcome.String()})
		}
	default:
		u.came(j, here, err)
	}
	u.s.emit(message.JobChanged{Job: j.id})
}

// came takes in that nothing came of a task, by the machine's fault or its owner's word.
func (u *unaided) came(j *submitted, here *task.Result, err error) {
	o := &j.withheld.own
	if o.tries++; here.Outcome != task.Interrupted || err != nil {
		o.why = cmp.Or(here.Message, here.Outcome.String())
		if err != nil {
			o.why = err.Error()
		}
		o.why = task.ClipMessage("this machine cannot run them: " + o.why)
	}
	if o.tries >= unaidedTries {
		o.vain.Add(o.of)
	}
	o.pause = min(max(2*o.pause, u.s.timing.RetryMin), u.s.timing.RetryMax)
	u.pause(j, o.pause)
}

// hold holds what this node made, and says so to the leader.
func (u *unaided) hold(j *submitted, t *message.TaskSummary) {
	s, o := u.s, &j.withheld.own
	key := ResultKey(j.id, t.Index)
	if !s.save(key, task.TaskID{Job: j.id, Index: t.Index}, t) {
		return
	}
	if s.fetches[key] != nil { // of which the outputs do not come
		delete(s.fetches, key)
		j.fetching--
		j.lacking = j.lacking.Minus(only(t.Index))
	}
	o.n++
	o.begun, o.pause, o.why, o.vain = false, 0, "", nil
	j.keep(t.Index, t.Failed)
	j.noteFailure(t)
	j.settled(t.Index)
	j.disputed = dispute{}
	j.staged.skip(s, j)
	if !s.finish(j, false) {
		s.got(j)
	}
}

// why says how it stands with a job that is late, for its owner.
func (u *unaided) why(j *submitted) string {
	o := &j.withheld.own
	lead := fmt.Sprintf("too little came of the job for %v", u.s.now.Sub(o.last).Round(time.Second))
	switch {
	case o.why != "":
		return lead + ", and " + o.why
	case !u.lends():
		return lead + ": this machine would run its tasks itself, and lends no core for now"
	}
	return fmt.Sprintf("%s: this machine runs its tasks itself where a core is idle, one at a time; %d have ended", lead,
		o.n)
}
