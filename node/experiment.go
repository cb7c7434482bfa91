package node

import (
	"fmt"

	"godwit/node/exec"
	"godwit/scheduler"
	"godwit/trace"
)

// An Experiment is what a laboratory puts in place of a node's machine, its owner and
// what is known of tasks. The zero value puts nothing there.
type Experiment struct {
	// Runner is RunWasm or RunSleep; "" is RunWasm.
	Runner string

	// Speeds are those that RunSleep takes on, by the class of a task's job: it waits the
	// job's work divided by that. That of AnyClass is what the node tells as its speed;
	// without it none is told.
	Speeds exec.Speeds

	// Rates are what is known of classes of tasks beforehand.
	Rates scheduler.KnownRates

	// UnprovenPart is as in submitter.Config; 0 for its default.
	UnprovenPart uint64

	// Replay, if not nil, plays the owner in place of this machine's sensors; the
	// rules still decide what follows.
	Replay *trace.History
}

// The runners. A sleeping one waits Job.Work instead of running the module:
// it measures everything but the work itself.
const (
	RunWasm  = "wasm"
	RunSleep = "sleep"
)

// AnyClass, in Experiment.Speeds, is every class that is not there itself.
const AnyClass = exec.AnyClass

// check returns what is wrong with the experiment, or nil.
func (e *Experiment) check() error {
	switch e.Runner {
	case "", RunWasm, RunSleep:
	default:
		return fmt.Errorf("unknown runner %q: %q and %q exist", e.Runner, RunWasm, RunSleep)
	}
	if len(e.Speeds) > 0 && e.Runner != RunSleep {
		return fmt.Errorf("speeds are imposed on tasks that wait: use runner %q", RunSleep)
	}
	return e.Speeds.Check()
}
