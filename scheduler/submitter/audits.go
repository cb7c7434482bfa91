package submitter

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"godwit/credibility"
	"godwit/scheduler/durable"
	"godwit/scheduler/message"
	"godwit/task"
)

// audits run results again here, one at a time: those that are doubted first, then in the order
// of jobs and tasks. That a task runs again delays none that is leased: it waits for a core as
// they do.
type audits struct {
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

// audit begins the next audit, if one is due and none runs.
func (s *Submitter) audit() {
	a := &s.audits
	if a.at != nil && a.at.runs || s.now.Before(a.rest) {
		return
	}
	if a.at != nil && s.jobs[a.at.id.Job] == nil { // forgotten meanwhile
		a.at = nil
	}
	if a.at == nil {
		id, ok := s.nextAudit()
		if !ok {
			return
		}
		a.at = &auditing{id: id}
	}
	a.at.runs = true
	s.emit(message.Audit{Task: a.at.id, Key: s.jobs[a.at.id.Job].record.Key, Interpreted: a.at.compiled != nil})
}

// nextAudit chooses what is run again next: the newest that is doubted, or the first that is due.
func (s *Submitter) nextAudit() (task.TaskID, bool) {
	var first *submitted
	for _, id := range slices.Sorted(maps.Keys(s.jobs)) {
		j := s.jobs[id]
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

// audited takes in what came of a task that ran again.
func (s *Submitter) audited(ev *message.Audited) {
	a := s.audits.at
	if a == nil || !a.runs || a.id != ev.Task {
		return
	}
	a.runs = false
	j := s.jobs[ev.Task.Job]
	if j == nil || j.checks == nil || !j.checks.due.Contains(ev.Task.Index) || len(ev.Held.Results) == 0 {
		s.audits.at = nil
		return
	}
	signed, here := &ev.Held.Results[0], &ev.Here
	switch {
	case !signed.Outcome.Reproducible():
		s.settle(j, verdictOpen, "what was signed, "+signed.Outcome.String()+", depends on the machine")
	case here.Outcome == task.Interrupted, here.Outcome == task.HostError && a.fails+1 < auditTries:
		s.auditLater(here.Outcome)
	case !here.Outcome.Reproducible():
		s.settle(j, verdictOpen, "it does not run to its end here: "+here.Outcome.String())
	default:
		s.judge(j, ev, signed, here)
	}
}

// auditLater tries again after a pause.
func (s *Submitter) auditLater(came task.Outcome) {
	a := &s.audits
	if came == task.HostError {
		a.at.fails++
	}
	a.pause = min(max(2*a.pause, s.timing.RetryMin), s.timing.RetryMax)
	a.rest = s.now.Add(a.pause)
	s.timers.Set(a.rest, auditTimer)
}

// judge holds what came of a task here against what its worker signed. Something else accuses
// the worker if the program comes to it compiled and interpreted.
func (s *Submitter) judge(j *submitted, ev *message.Audited, signed, here *task.Result) {
	a := s.audits.at
	why := signed.Difference(here, nil)
	switch {
	case why == "" && a.compiled == nil:
		s.credit(signed.Worker).Confirm(1, 1, s.now)
		s.keepCredit(signed.Worker)
		s.settle(j, verdictRight, "")
	case a.compiled == nil:
		a.compiled = here
	case a.compiled.Difference(here, nil) != "":
		s.settle(j, verdictOpen, "this machine is at odds with itself: compiled and interpreted runs end otherwise ("+
			a.compiled.Difference(here, nil)+"); test its memory")
	default:
		s.found(j, ev, signed, why)
	}
}

// found deals with a result that is wrong: what this node made takes its place, and all else of
// the worker is in doubt.
func (s *Submitter) found(j *submitted, ev *message.Audited, signed *task.Result, why string) {
	end := message.TaskSummary{Index: ev.Task.Index, Failed: ev.Here.Outcome != task.Completed,
		Results: []task.Result{ev.Here}, Attempts: ev.Held.Attempts}
	if end.Failed {
		end.Reason = "run again here: " + ev.Here.Outcome.String()
	}
	if !s.save(ResultKey(j.id, end.Index), ev.Task, &end) {
		s.settle(j, verdictOpen, "what this node made of it cannot be kept")
		return
	}
	switch {
	case end.Failed && !ev.Held.Failed:
		j.failed++
	case !end.Failed && ev.Held.Failed:
		j.failed--
	}
	if j.state.Final {
		j.state.Summary = j.lastSummary(j.have.Count() == j.total)
		s.persist(j)
	}
	s.blame(ev, signed)
	s.emit(message.Decided{Task: ev.Task, Action: "found wrong", Peer: signed.Worker, Reason: task.ClipMessage(why)})
	s.settle(j, verdictWrong, "")
}

// blame notes a fault of who signed a wrong result, if nobody else can have made it wrong: a run
// that goes on from what another worker left may be wrong by that one. Then nobody is named, and
// the results of all who had the task are run again, which tells.
func (s *Submitter) blame(ev *message.Audited, signed *task.Result) {
	workers := []task.PeerID{signed.Worker}
	for i := range ev.Held.Attempts {
		workers = append(workers, ev.Held.Attempts[i].Worker)
	}
	slices.Sort(workers)
	workers = slices.Compact(workers)
	if r := signed.Receipt; len(workers) == 1 || r != nil && r.From == "" && r.Since == 0 && !movedTo(ev, signed.Worker) {
		s.credit(signed.Worker).Faults++
		s.keepCredit(signed.Worker)
		workers = []task.PeerID{signed.Worker}
	}
	for _, w := range workers {
		s.distrust(w)
	}
}

// movedTo reports whether a task was handed over to a worker while it ran.
func movedTo(ev *message.Audited, worker task.PeerID) bool {
	return slices.ContainsFunc(ev.Held.Attempts, func(l message.AttemptLog) bool { return l.MovedTo == worker })
}

// settle ends an audit. why is for people, of one that could not be told.
func (s *Submitter) settle(j *submitted, v verdict, why string) {
	id := s.audits.at.id
	s.audits.at, s.audits.rest, s.audits.pause = nil, time.Time{}, 0
	s.note(j, checked{Index: id.Index, State: v})
	if v == verdictOpen {
		s.emit(message.Decided{Task: id, Action: "not checked", Reason: task.ClipMessage(why)})
	}
	s.emit(message.JobChanged{Job: j.id})
}

func (s *Submitter) credit(worker task.PeerID) *credibility.Credit {
	c := s.audits.credits[worker]
	if c == nil {
		c = &credibility.Credit{}
		s.audits.credits[worker] = c
	}
	return c
}

// creditState is the durable form of a credibility.Credit.
type creditState struct {
	Known  float64 `cbor:"1,keyasint,omitempty"`
	At     int64   `cbor:"2,keyasint,omitempty"` // Unix seconds
	Faults int     `cbor:"3,keyasint,omitempty"`
}

func (s *Submitter) keepCredit(worker task.PeerID) {
	c := s.audits.credits[worker]
	s.save(submitterCredits+string(worker), task.TaskID{}, &creditState{c.Known, c.At.Unix(), c.Faults})
}

// restoreCredits takes in what is known of workers.
func (s *Submitter) restoreCredits(scan func(string) iter.Seq2[string, []byte], errs *durable.Errors) {
	for key, value := range scan(submitterCredits) {
		var c creditState
		err := task.Decode(value, &c)
		if err == nil && (!(c.Known >= 0) || c.Faults < 0) {
			err = fmt.Errorf("a credit of %g with %d faults", c.Known, c.Faults)
		}
		if errs.Note(key, err); err == nil {
			worker := task.PeerID(strings.TrimPrefix(key, submitterCredits))
			s.audits.credits[worker] = &credibility.Credit{Known: c.Known, At: time.Unix(c.At, 0), Faults: c.Faults}
		}
	}
}
