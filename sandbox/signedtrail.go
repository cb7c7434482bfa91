package sandbox

import (
	"cmp"
	"crypto/sha256"
	"runtime"

	"godwit/sandbox/freeze"
	"godwit/task"
)

// engineName names what runs programs here. The library compiles for two architectures.
func engineName(interprets bool) string {
	if interprets || runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		return task.EngineInterpreter
	}
	return runtime.GOARCH
}

// StoppedTrail returns the fuel and the state of a task that was frozen; nil of one that was not.
func (r *Report) StoppedTrail() *task.Trail {
	if len(r.Frozen) == 0 || r.Fuel == 0 {
		return nil
	}
	return &task.Trail{Pass: freeze.PassVersion, Fuel: r.Fuel, Last: r.StateHash[:], Engine: r.Engine}
}

// SignedTrail returns how a task of TaskOf came to its end, as its result says it. It is nil for a program
// that cannot be frozen, and for a run whose end the program did not come to itself.
func (r *Report) SignedTrail() *task.Trail {
	if r.Fuel == 0 || r.Outcome != task.Completed && !r.Outcome.OwnFault() || r.Outcome == task.TimedOut {
		return nil
	}
	t := &task.Trail{Pass: freeze.PassVersion, Fuel: r.Fuel, Engine: r.Engine}
	if longEnough(cmp.Or(r.Spacing, task.DefaultSpacing), r.Fuel) && r.StateHash != [sha256.Size]byte{} {
		t.Last = r.StateHash[:]
	}
	t.Boundaries, t.Root = uint32(len(r.Trail)), task.TrailRoot(r.Trail)
	return t
}
