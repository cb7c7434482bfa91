package submitter

import (
	"bytes"
	"fmt"
	"slices"

	"godwit/scheduler/message"
	"godwit/task"
)

// A tracing looks for the run in which a task became wrong that went on from states that others
// left. From the earliest on, the task is run up to each, and what comes out is held against what
// its worker vouched for: the first that differs is that worker's fault. Where all are right, it is
// the fault of who signed the end.
type tracing struct {
	ev   *message.Audited // of the end that is wrong, as it came out here interpreted
	why  string           // it is
	link int              // of the chain, the one that is run up to
	// compiled is set where the task, compiled, comes to another state here: then it is interpreted,
	// and state is what that has to be.
	compiled bool
	state    []byte
	wrong    bool // the state of the link is
}

func newTracing(ev *message.Audited, why string) *tracing {
	return &tracing{ev: ev, why: why, link: len(ev.Held.Results[0].Trail.Began) - 1}
}

// traceable reports whether a result says what its run went on from, by hashes as they are made here.
func traceable(signed *task.Result) bool {
	return signed.Trail != nil && len(signed.Trail.Began) > 0
}

func (t *tracing) chain() []task.Link { return t.ev.Held.Results[0].Trail.Began }
func (t *tracing) probe() *task.Link  { return &t.chain()[t.link] }

// traced takes in the state that a task comes to here.
func (a *audits) traced(j *submitted, at *auditing, here *task.Result) {
	t := at.trace
	state, stopped := stateAt(here, t.probe().Fuel)
	switch {
	case !stopped && (here.Outcome == task.Interrupted || here.Outcome == task.HostError && at.fails+1 < auditTries):
		a.later(at, here.Outcome)
	case !stopped, here.Trail != nil && here.Trail.Pass != t.ev.Held.Results[0].Trail.Pass:
		a.found(j, t.ev, nil, t.why+"; in whose run it cannot be told here")
	case t.compiled && !bytes.Equal(state, t.state):
		a.found(j, t.ev, nil, t.why+"; compiled and interpreted runs come to other states here")
	case !bytes.Equal(state, t.probe().Voucher.Hash):
		if !t.compiled {
			t.compiled, t.state = true, state
			return
		}
		a.foundAt(j, t)
	case t.link > 0:
		t.link--
	default:
		a.found(j, t.ev, answers(t.ev), t.why)
	}
}

// stateAt returns the hash of the state that a run was stopped in, and whether it was, or came to
// its end without that fuel, which is in no state then.
func stateAt(here *task.Result, fuel uint64) (state []byte, stopped bool) {
	if here.Outcome != task.Interrupted || here.Trail == nil || len(here.Trail.Last) == 0 {
		return nil, here.Outcome.Reproducible()
	}
	if here.Trail.Fuel != fuel { // no safe point is there
		return nil, true
	}
	return here.Trail.Last, true
}

// foundAt names who left a state that is wrong, unless that one's run began with a state that is
// not known any more.
func (a *audits) foundAt(j *submitted, t *tracing) {
	why := fmt.Sprintf("%s; wrong is the state at fuel %d that it went on from", t.why, t.probe().Fuel)
	if t.link == len(t.chain())-1 && task.CutShort(t.chain()) {
		a.found(j, t.ev, nil, why+", or one before it")
		return
	}
	t.wrong = true
	a.found(j, t.ev, []task.PeerID{t.probe().Voucher.Worker}, why)
}

// answers returns who answers for an end that is wrong, whose states before it are not: who signed
// it; nobody where no leases have receipts, as in an overlay of one, and several had the task.
func answers(ev *message.Audited) []task.PeerID {
	var out []task.PeerID
	for i := range ev.Held.Results {
		r := &ev.Held.Results[i]
		switch {
		case i > 0 && traceable(r): // it may have gone on from another's
		case r.Receipt != nil || len(had(ev)) == 1:
			out = append(out, r.Worker)
		}
	}
	return out
}

// had returns all who had the task, or left a state that it went on from, each once.
func had(ev *message.Audited) []task.PeerID {
	var out []task.PeerID
	for i := range ev.Held.Results {
		r := &ev.Held.Results[i]
		out = append(out, r.Worker)
		if r.Trail == nil {
			continue
		}
		for k := range r.Trail.Began {
			out = append(out, r.Trail.Began[k].Voucher.Worker)
		}
	}
	for i := range ev.Held.Attempts {
		out = append(out, ev.Held.Attempts[i].Worker)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// found deals with a result that is wrong by some workers, or none that can be named: what this
// node made takes its place, and all else of them, or of all who had the task, is in doubt.
func (a *audits) found(j *submitted, ev *message.Audited, by []task.PeerID, why string) {
	a.judgeOpposed(j, a.at[ev.Task], ev, &ev.Here)
	engine, excused := a.excusedBy(j, ev, by), task.PeerID("")
	if engine != "" {
		excused, by, why = by[0], nil, why+excuseOf(engine)
	}
	if a.narrow(j, ev, by, why) {
		return
	}
	end := message.TaskSummary{Index: ev.Task.Index, Failed: ev.Here.Outcome != task.Completed,
		Results: []task.Result{ev.Here}, Attempts: ev.Held.Attempts,
		Refuted: &message.Refuted{Result: ev.Held.Results[0], Why: task.ClipMessage(why)}}
	if len(by) > 0 {
		end.Refuted.By = by[0]
	}
	if at := a.at[ev.Task]; len(by) > 0 {
		end.Refuted.Part, end.Refuted.Proof = at.part, at.proof
	} else {
		end.Refuted.Part = at.part
	}
	if end.Failed {
		end.Reason = "run again here: " + ev.Here.Outcome.String()
	}
	if !a.s.save(ResultKey(j.id, end.Index), ev.Task, &end) {
		a.settle(j, ev.Task, verdictOpen, "what this node made of it cannot be kept")
		return
	}
	a.s.replaced(j, ev.Held.Failed, end.Failed)
	doubting{a}.heldAnew(j, end.Index, end.Failed) // before all is said to be checked
	if engine != "" {
		at := a.at[ev.Task]
		at.by, at.engine = excused, engine
		a.diverged(j, ev, excused, engine, why)
	} else {
		a.blame(ev, by, why)
	}
	a.settle(j, ev.Task, verdictWrong, "")
	doubting{a}.doubtSources(j, ev.Task.Index)
	doubting{a}.doubtStrangers(j)
}

// tellWorker tells a worker of the result that it signed and that is wrong.
func (a *audits) tellWorker(ev *message.Audited, worker task.PeerID, why string) {
	for i := range ev.Held.Results {
		if r := &ev.Held.Results[i]; r.Worker == worker {
			a.s.emit(message.Send{To: worker, Message: message.Message{Wrong: &message.Wrong{Result: *r,
				Why: task.ClipMessage(why)}}})
			return
		}
	}
}

// blame notes a fault of each worker that is named.
func (a *audits) blame(ev *message.Audited, by []task.PeerID, why string) {
	told := message.Decided{Task: ev.Task, Action: "found wrong", Reason: task.ClipMessage(why)}
	if len(by) == 0 {
		a.s.emit(told)
		for _, w := range had(ev) {
			doubting{a}.distrust(w, false)
		}
	}
	for _, w := range by {
		a.accuse(w, ev.Task, why)
		told.Peer = w
		a.s.emit(told)
		a.tellWorker(ev, w, why)
	}
	if len(by) == 0 {
		return
	}
	a.tellRefused()
}

// confirm adds a task to what is known of a worker.
func (a *audits) confirm(worker task.PeerID) {
	a.credit(worker).Confirm(1, 1, a.s.now)
	a.keep(worker)
}

// judgeOpposed judges those who came to something else than what is held, by what came of the task
// here, compiled and interpreted.
func (a *audits) judgeOpposed(j *submitted, at *auditing, ev *message.Audited, here *task.Result) {
	for i := range at.opposed {
		r := &at.opposed[i]
		why := r.Difference(here, nil)
		if why == "" {
			a.confirm(r.Worker)
			continue
		}
		its := message.Audited{Task: ev.Task, Here: *here,
			Held: message.TaskSummary{Index: ev.Held.Index, Results: []task.Result{*r}}}
		var by []task.PeerID
		if !traceable(r) {
			by = []task.PeerID{r.Worker}
		}
		if engine := a.excusedBy(j, &its, by); engine != "" {
			a.diverged(j, &its, r.Worker, engine, why+excuseOf(engine))
			continue
		}
		if len(by) > 0 && at.right && ev.Held.Refuted == nil {
			ev.Held.Refuted = &message.Refuted{Result: *r, By: r.Worker, Why: task.ClipMessage(why)}
			a.s.save(ResultKey(j.id, ev.Held.Index), ev.Task, &ev.Held)
		}
		a.blame(&its, by, why)
	}
	at.opposed = nil
}
