package submitter

import (
	"maps"
	"slices"
	"time"

	"godwit/credibility"
	"godwit/scheduler/message"
	"godwit/task"
)

// audits run results again here, one at a time: those that are doubted first, then in the order
// of jobs and tasks. That a task runs again delays none that is leased: it waits for a core as
// they do.
type audits struct {
	s       *Submitter
	credits map[task.PeerID]*credibility.Credit // of workers of whom something is known
	at      *auditing                           // nil for none
	// rest is until when none begins after one that came to nothing, and pause how long that is.
	rest  time.Time
	pause time.Duration
}

// An auditing is a task that runs again.
type auditing struct {
	id       task.TaskID
	runs     bool         // it was given out, and is not answered
	compiled *task.Result // what came of it, where that is not what was signed
	fails    int          // of this machine
}

// auditTries is how often this machine may fail to run a task before it is said that it cannot
// be told. That its owner takes the machine back is no failure.
const auditTries = 5

// auditTimer is the key of the timer that ends a rest.
const auditTimer = "audit"

// begin starts the next audit, if one is due and none runs.
func (a *audits) begin() {
	if a.at != nil && a.at.runs || a.s.now.Before(a.rest) {
		return
	}
	if a.at != nil && a.s.jobs[a.at.id.Job] == nil { // forgotten meanwhile
		a.at = nil
	}
	if a.at == nil {
		id, ok := a.next()
		if !ok {
			return
		}
		a.at = &auditing{id: id}
	}
	a.at.runs = true
	a.s.emit(message.Audit{Task: a.at.id, Key: a.s.jobs[a.at.id.Job].record.Key, Interpreted: a.at.compiled != nil})
}

// next chooses what is run again next: the newest that is doubted, or the first that is due.
func (a *audits) next() (task.TaskID, bool) {
	var first *submitted
	for _, id := range slices.Sorted(maps.Keys(a.s.jobs)) {
		j := a.s.jobs[id]
		if j.checks == nil || len(j.checks.due) == 0 {
			continue
		}
		if d := j.checks.doubted; len(d) > 0 {
			return task.TaskID{Job: id, Index: d[len(d)-1].To - 1}, true
		}
		if first == nil {
			first = j
		}
	}
	if first == nil {
		return task.TaskID{}, false
	}
	return task.TaskID{Job: first.id, Index: first.checks.due[0].From}, true
}

// answered takes in what came of a task that ran again.
func (a *audits) answered(ev *message.Audited) {
	at := a.at
	if at == nil || !at.runs || at.id != ev.Task {
		return
	}
	at.runs = false
	j := a.s.jobs[ev.Task.Job]
	if j == nil || j.checks == nil || !j.checks.due.Contains(ev.Task.Index) || len(ev.Held.Results) == 0 {
		a.at = nil
		return
	}
	signed, here := &ev.Held.Results[0], &ev.Here
	switch {
	case !signed.Outcome.Reproducible():
		a.settle(j, verdictOpen, "what was signed, "+signed.Outcome.String()+", depends on the machine")
	case here.Outcome == task.Interrupted, here.Outcome == task.HostError && at.fails+1 < auditTries:
		a.later(here.Outcome)
	case !here.Outcome.Reproducible():
		a.settle(j, verdictOpen, "it does not run to its end here: "+here.Outcome.String())
	default:
		a.judge(j, ev, signed, here)
	}
}

// later tries again after a pause.
func (a *audits) later(came task.Outcome) {
	if came == task.HostError {
		a.at.fails++
	}
	a.pause = min(max(2*a.pause, a.s.timing.RetryMin), a.s.timing.RetryMax)
	a.rest = a.s.now.Add(a.pause)
	a.s.timers.Set(a.rest, auditTimer)
}

// judge holds what came of a task here against what its worker signed. Something else accuses
// the worker if the program comes to it compiled and interpreted.
func (a *audits) judge(j *submitted, ev *message.Audited, signed, here *task.Result) {
	why := signed.Difference(here, nil)
	switch {
	case why == "" && a.at.compiled == nil:
		a.credit(signed.Worker).Confirm(1, 1, a.s.now)
		a.keep(signed.Worker)
		a.settle(j, verdictRight, "")
	case a.at.compiled == nil:
		a.at.compiled = here
	case a.at.compiled.Difference(here, nil) != "":
		a.settle(j, verdictOpen, "this machine is at odds with itself: compiled and interpreted runs end otherwise ("+
			a.at.compiled.Difference(here, nil)+"); test its memory")
	default:
		a.found(j, ev, signed, why)
	}
}

// found deals with a result that is wrong: what this node made takes its place, and all else of
// the worker is in doubt.
func (a *audits) found(j *submitted, ev *message.Audited, signed *task.Result, why string) {
	end := message.TaskSummary{Index: ev.Task.Index, Failed: ev.Here.Outcome != task.Completed,
		Results: []task.Result{ev.Here}, Attempts: ev.Held.Attempts}
	if end.Failed {
		end.Reason = "run again here: " + ev.Here.Outcome.String()
	}
	if !a.s.save(ResultKey(j.id, end.Index), ev.Task, &end) {
		a.settle(j, verdictOpen, "what this node made of it cannot be kept")
		return
	}
	a.s.replaced(j, ev.Held.Failed, end.Failed)
	a.blame(ev, signed)
	a.s.emit(message.Decided{Task: ev.Task, Action: "found wrong", Peer: signed.Worker, Reason: task.ClipMessage(why)})
	a.settle(j, verdictWrong, "")
}

// blame notes a fault of who signed a wrong result, if nobody else can have made it wrong: a run
// that goes on from what another worker left may be wrong by that one. Then nobody is named, and
// the results of all who had the task are run again, which tells.
func (a *audits) blame(ev *message.Audited, signed *task.Result) {
	workers := []task.PeerID{signed.Worker}
	for i := range ev.Held.Attempts {
		workers = append(workers, ev.Held.Attempts[i].Worker)
	}
	slices.Sort(workers)
	workers = slices.Compact(workers)
	if r := signed.Receipt; len(workers) == 1 || r != nil && r.From == "" && r.Since == 0 && !movedTo(ev, signed.Worker) {
		a.credit(signed.Worker).Faults++
		a.keep(signed.Worker)
		workers = []task.PeerID{signed.Worker}
	}
	for _, w := range workers {
		a.distrust(w)
	}
}

// movedTo reports whether a task was handed over to a worker while it ran.
func movedTo(ev *message.Audited, worker task.PeerID) bool {
	return slices.ContainsFunc(ev.Held.Attempts, func(l message.AttemptLog) bool { return l.MovedTo == worker })
}

// settle ends an audit. why is for people, of one that could not be told.
func (a *audits) settle(j *submitted, v verdict, why string) {
	id := a.at.id
	a.at, a.rest, a.pause = nil, time.Time{}, 0
	a.note(j, checked{Index: id.Index, State: v, Late: v == verdictWrong && j.state.Settled})
	a.deliver(j)
	if v == verdictOpen {
		a.s.emit(message.Decided{Task: id, Action: "not checked", Reason: task.ClipMessage(why)})
	}
	a.s.emit(message.JobChanged{Job: j.id})
}
