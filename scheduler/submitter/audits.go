package submitter

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// audits run results again here, as many at once as the configuration says: those that are doubted
// first, then in the order of jobs and tasks. That a task runs again delays none that is leased: it
// waits for a core as they do.
type audits struct {
	s *Submitter
	reputations
	jobs    []*submitted              // whose results are checked, all of them, in the order of their names
	at      map[task.TaskID]*auditing // at most Config.Audits
	reading map[task.TaskID]bool      // results that are examined, at most maxExamined
	// rest is until when none begins after one that came to nothing, and pause how long that is.
	rest    time.Time
	pause   time.Duration
	abroad  abroad
	fresh   newcomers
	accused accused
	heard   hearsay
}

// An auditing is a task that runs again.
type auditing struct {
	id       task.TaskID
	runs     bool               // it was given out, and is not answered
	compiled *task.Result       // what came of it, where that is not what was signed
	twice    bool               // it runs compiled a second time, and is not interpreted: see mayTwice
	fails    int                // of this machine
	trace    *tracing           // nil until the end is known to be wrong
	parts    *parting           // intervals are run again alone; nil: the whole task is
	narrow   *narrowing         // the part is sought that is wrong; nil before and where none is
	failed   bool               // the task did, by the result
	whole    bool               // it is, though intervals were drawn
	release  []message.Released // what its workers are told in the end; empty for nothing
	signer   task.PeerID        // of the result; "" until that is read
	left     []task.PeerID      // who ran the task before the signer
	// by is whose compiler, for engine, may be why it is; "" where nobody is excused.
	by     task.PeerID
	engine string
	// spreads says that all others with that compiler are in doubt: see divergedIn.
	spreads bool
	// opposed are what others signed that is not what is held; right says that what is held is, and
	// that the task runs once more because of them.
	opposed []task.Result
	right   bool
	// part is the interval that is wrong, and proof how others see it; nil until they are known. state is
	// what that begins with; "" for none.
	part  *message.RefutedPart
	proof *task.PartProof
	state task.CID
}

// auditTries is how often this machine may fail to run a task before it is said that it cannot
// be told. That its owner takes the machine back is no failure.
const auditTries = 5

// auditTimer is the key of the timer that ends a rest.
const auditTimer = "audit"

// begin has tasks run again that are due, and goes on with those that are looked into.
func (a *audits) begin() {
	if a.s.now.Before(a.rest) {
		return
	}
	for _, id := range a.toBegin() {
		switch at := a.at[id]; {
		case at.narrow.late(a.s.now) && a.s.jobs[id.Job] != nil:
			a.found(a.s.jobs[id.Job], at.narrow.ev, at.narrow.by, at.narrow.why)
		case at.runs:
		case a.s.jobs[id.Job] == nil, a.abroad.leaves(at): // forgotten meanwhile, or for others to run
			delete(a.at, id)
		case a.abroad.mayHere(at):
			a.run(at)
		}
	}
	for len(a.at) < a.s.cfg.Audits {
		id, ok := a.next()
		if !ok {
			return
		}
		a.at[id] = &auditing{id: id}
		a.run(a.at[id])
	}
}

// toBegin lists the tasks that are to run again here of which there is something to be done, or more: all, in order,
// where there is any. It is asked in each step, and mostly those that there are run.
func (a *audits) toBegin() []task.TaskID {
	for _, at := range a.at {
		if !at.runs || at.narrow.late(a.s.now) {
			return slices.SortedFunc(maps.Keys(a.at), inOrder)
		}
	}
	return nil
}

// follow has the results of a job checked from now on.
func (a *audits) follow(j *submitted) {
	at, _ := slices.BinarySearchFunc(a.jobs, j.id, byName)
	a.jobs = slices.Insert(a.jobs, at, j)
}

// leave forgets a job.
func (a *audits) leave(id task.JobID) {
	if at, ok := slices.BinarySearchFunc(a.jobs, id, byName); ok {
		a.jobs = slices.Delete(a.jobs, at, at+1)
	}
}

func byName(j *submitted, id task.JobID) int { return strings.Compare(string(j.id), string(id)) }

// inOrder compares tasks by their jobs' names, then by number.
func inOrder(a, b task.TaskID) int {
	return cmp.Or(strings.Compare(string(a.Job), string(b.Job)), cmp.Compare(a.Index, b.Index))
}

// run gives a task out.
func (a *audits) run(at *auditing) {
	at.runs = true
	c := a.s.jobs[at.id.Job].checks
	if d := c.drawn[at.id.Index]; d.of > 0 && at.parts == nil && !at.whole &&
		a.known(c.signer[at.id.Index]).Faults == 0 {
		at.parts = newParting(d)
	}
	if n := at.narrow; n != nil {
		a.s.emit(n.audit(at.id, a.s.jobs[at.id.Job].record.Key))
		return
	}
	if p := at.parts; p != nil && !p.wrong {
		a.s.emit(message.Audit{Task: at.id, Key: a.s.jobs[at.id.Job].record.Key, Interpreted: p.compiled != nil,
			Alone: !a.abroad.lends, Part: p.hand()})
		return
	}
	e := message.Audit{Task: at.id, Key: a.s.jobs[at.id.Job].record.Key,
		Interpreted: at.compiled != nil && at.parts == nil && !at.twice, Alone: !a.abroad.lends}
	if t := at.trace; t != nil {
		e.StopAt, e.Interpreted = t.probe().Fuel, t.compiled
	}
	a.s.emit(e)
}

// next chooses what is run again next, of what is not already: the newest that is doubted, or the
// first that is due, or that others ran again.
func (a *audits) next() (task.TaskID, bool) {
	for _, j := range a.jobs {
		if a.exhausted(j) {
			continue
		}
		for _, r := range slices.Backward(j.checks.doubted) {
			for i := r.To; i > r.From; i-- {
				if t := (task.TaskID{Job: j.id, Index: i - 1}); a.mayRun(t) {
					return t, true
				}
			}
		}
	}
	for _, which := range []func(*checks) ledger.Set{
		func(c *checks) ledger.Set { return c.due }, func(c *checks) ledger.Set { return c.redo },
	} {
		for _, j := range a.jobs {
			if a.exhausted(j) {
				continue
			}
			if t, ok := a.firstOf(j.id, which(j.checks)); ok {
				return t, true
			}
		}
	}
	return task.TaskID{}, false
}

// firstOf returns the first task of a set that may run again here.
func (a *audits) firstOf(id task.JobID, set ledger.Set) (task.TaskID, bool) {
	for _, r := range set {
		for i := r.From; i < r.To; i++ {
			if t := (task.TaskID{Job: id, Index: i}); a.mayRun(t) {
				return t, true
			}
		}
	}
	return task.TaskID{}, false
}

// mayRun reports whether a task may begin to run again here: it does not, and others are not to.
func (a *audits) mayRun(id task.TaskID) bool {
	j := a.s.jobs[id.Job]
	at := &auditing{id: id}
	return a.at[id] == nil && !j.checks.away.Contains(id.Index) && (a.abroad.lends || !j.checks.redo.Contains(id.Index)) &&
		!a.abroad.leaves(at) && a.abroad.mayHere(at)
}

// answered takes in what came of a task that ran again.
func (a *audits) answered(ev *message.Audited) {
	at := a.at[ev.Task]
	if at == nil || !at.runs {
		return
	}
	at.runs = false
	at.failed = ev.Held.Failed
	if j := a.s.jobs[ev.Task.Job]; j != nil && j.checks != nil {
		j.checks.budget.spend(ev, j.checks.drawn[ev.Task.Index].of)
		a.s.unaided.clip(j)
	}
	if at.signer == "" && len(ev.Held.Results) > 0 {
		at.signer, at.left = ev.Held.Results[0].Worker, a.leftBy(&ev.Held.Results[0])
		at.release = releaseOf(&ev.Held.Results[0], a.s.self)
	}
	j := a.s.jobs[ev.Task.Job]
	if j == nil || j.checks == nil || !j.checks.toRun(ev.Task.Index) || len(ev.Held.Results) == 0 {
		delete(a.at, ev.Task)
		return
	}
	hidden{a}.leavesTrail(j, &ev.Here)
	opposed := fold(ev)
	if at.compiled == nil {
		at.opposed = opposed
	}
	signed, here := &ev.Held.Results[0], &ev.Here
	switch {
	case at.narrow != nil:
		at.narrow.concludes(a, j, ev)
	case at.trace != nil:
		a.traced(j, at, here)
	case at.parts != nil && at.parts.wrong:
		a.replace(j, at, ev)
	case at.parts != nil:
		a.parted(j, at, ev)
	case !signed.Outcome.Reproducible():
		a.settle(j, at.id, verdictOpen, "what was signed, "+signed.Outcome.String()+", depends on the machine")
	case here.Outcome == task.Interrupted, here.Outcome == task.HostError && at.fails+1 < auditTries:
		a.later(at, here.Outcome)
	case at.right:
		a.foundRight(j, at, ev, here)
	case !here.Outcome.Reproducible():
		a.settle(j, at.id, verdictOpen, "it does not run to its end here: "+here.Outcome.String())
	default:
		a.judge(j, at, ev, here)
	}
}

// later tries again after a pause.
func (a *audits) later(at *auditing, came task.Outcome) {
	if came == task.HostError {
		at.fails++
	}
	a.pause = min(max(2*a.pause, a.s.timing.RetryMin), a.s.timing.RetryMax)
	a.rest = a.s.now.Add(a.pause)
	a.s.timers.Set(a.rest, auditTimer)
}

// judge holds what came of a task here against what its worker signed. Something else accuses
// the worker if the program comes to it compiled and interpreted.
func (a *audits) judge(j *submitted, at *auditing, ev *message.Audited, here *task.Result) {
	signed := &ev.Held.Results[0]
	why := signed.Difference(here, nil)
	switch {
	case why == "" && at.compiled == nil:
		a.foundRight(j, at, ev, here)
	case at.compiled == nil:
		at.compiled, at.twice = here, a.mayTwice(j, signed, here)
	case why == "":
		a.s.emit(message.Decided{Task: at.id, Action: "divergent here", Reason: at.again() +
			", the task comes to what was signed; compiled, it does not: test this machine's memory"})
		a.foundRight(j, at, ev, here)
	case at.compiled.Difference(here, nil) != "":
		a.settle(j, at.id, verdictOpen, "this machine is at odds with itself: compiled and "+at.again()+
			" runs end otherwise ("+at.compiled.Difference(here, nil)+"); test its memory")
	case traceable(signed):
		at.trace, at.fails = newTracing(ev, why), 0
	default:
		if !at.twice {
			j.checks.alike++
		}
		a.found(j, ev, answers(ev), why)
	}
}

// again is how the task ran the second time.
func (at *auditing) again() string {
	if at.twice {
		return "compiled again"
	}
	return "interpreted"
}

// enginesAlike is how many wrong results of a job have to come out here compiled as they do
// interpreted until the compiler is believed with its program. To interpret one takes 5 to 20 times as long.
const enginesAlike = 3

// mayTwice reports whether a result that is wrong, as it came out here compiled, is compiled once more instead of
// interpreting it, because the compiler does well with the program: three wrong results of a job are interpreted,
// however many keys sign them. A second run finds what a memory fault does. A compiler's fault is no explanation, as
// the worker has the same compiler, or is not blamed because it names another one: see excusedBy. A result that was
// interpreted, or does not say, is always interpreted here.
func (a *audits) mayTwice(j *submitted, signed, here *task.Result) bool {
	engine := engineOf(signed)
	return j.checks.alike >= enginesAlike && !traceable(signed) &&
		(engine == engineOf(here) || engine != "" && engine != task.EngineInterpreter)
}
