package submitter

import (
	"fmt"
	"maps"
	"slices"

	"godwit/scheduler/message"
	"godwit/task"
)

// A wrong result may be the fault of a compiler that errs with one program on one architecture,
// and not of its worker. This node cannot run that compiler's code to see. So nobody is named for
// what came out of one program compiled for another architecture than this node's: the program is
// reported as divergent there, its worker gets no more of the job, and all else that was made there
// is run again. A worker is named with a second program, unless so many others were wrong with the
// same compiler that it must be that. So a liar gains one program by saying that its machine is of
// another kind, and nothing of that is taken for right. What others made with the same compiler is run again only if
// the worker is known: a stranger's claim concerns the stranger alone.

// compilerErrs is how many workers have to be wrong with one compiler until that is to blame for
// all: one that errs meets whoever has it, and few liars agree.
const compilerErrs = 3

// excusedBy returns the engine to which a worker may owe it that its result, or the state that it left, is wrong; ""
// for none.
func (a *audits) excusedBy(j *submitted, ev *message.Audited, by []task.PeerID) string {
	r, at := &ev.Held.Results[0], a.at[ev.Task]
	if len(by) != 1 || r.Trail == nil || at.compiled == nil || at.compiled.Trail == nil {
		return ""
	}
	engine := r.Trail.Engine
	if by[0] != r.Worker {
		if at.trace == nil || !at.trace.wrong {
			return ""
		}
		engine = at.trace.probe().Voucher.Engine
	}
	if engine == "" || engine == task.EngineInterpreter || engine == at.compiled.Trail.Engine {
		return ""
	}
	if first, is := a.excuses[by[0]]; is && first.module != j.spec.Module {
		alike := 0
		for _, e := range a.excuses {
			if e.engine == engine {
				alike++
			}
		}
		if alike < compilerErrs {
			return ""
		}
	}
	return engine
}

// diverged notes that a program is divergent on an engine, as what a worker made shows.
func (a *audits) diverged(j *submitted, ev *message.Audited, worker task.PeerID, engine, why string) {
	spreads := a.abroad.isKnown(worker)
	if at := a.at[ev.Task]; at != nil {
		at.spreads = spreads
	}
	if _, is := a.excuses[worker]; !is {
		a.excuses[worker] = excuse{j.spec.Module, engine}
		a.credit(worker)
		a.keep(worker)
	}
	a.s.emit(message.Decided{Task: ev.Task, Action: "divergent", Peer: worker, Reason: task.ClipMessage(why)})
	for _, id := range slices.Sorted(maps.Keys(a.s.jobs)) {
		if other := a.s.jobs[id]; other.checks != nil && other.spec.Module == j.spec.Module {
			a.divergedIn(other, worker, engine, spreads)
		}
	}
}

// divergedIn keeps a worker away from a job and has its results run again; if that spreads, also those of all others
// with the same compiler.
func (a *audits) divergedIn(j *submitted, worker task.PeerID, engine string, spreads bool) {
	c := j.checks
	c.excused[worker] = true
	if !spreads {
		doubting{a}.distrustIn(j, worker, true)
		if !j.state.Final {
			a.s.got(j)
		}
		return
	}
	c.divergent[engine] = true
	for _, w := range slices.Sorted(maps.Keys(c.engines)) {
		if c.engines[w] == engine {
			doubting{a}.distrustIn(j, w, c.excused[w])
		}
	}
	if !j.state.Final {
		a.s.got(j)
	}
}

func excuseOf(engine string) string {
	return fmt.Sprintf("; it was compiled for %s: the compiler may err there, so nobody is blamed", engine)
}
