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
	trace    *tracing     // nil until the end is known to be wrong
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
	e := message.Audit{Task: a.at.id, Key: a.s.jobs[a.at.id.Job].record.Key, Interpreted: a.at.compiled != nil}
	if t := a.at.trace; t != nil {
		e.StopAt, e.Interpreted = t.at().Fuel, t.compiled
	}
	a.s.emit(e)
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
	case at.trace != nil:
		a.traced(j, here)
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
	case traceable(signed):
		a.at.trace, a.at.fails = newTracing(ev, why), 0
	default:
		a.found(j, ev, answers(ev), why)
	}
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
