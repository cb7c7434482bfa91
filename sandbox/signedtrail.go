package sandbox

import (
	"godwit/sandbox/freeze"
	"godwit/task"
)

// SignedTrail returns how the task came to its end, as its result says it. It is nil for a program
// that cannot be frozen, and for a run whose end the program did not come to itself.
func (r *Report) SignedTrail() *task.Trail {
	if r.Fuel == 0 || r.Outcome != task.Completed && !r.Outcome.OwnFault() || r.Outcome == task.TimedOut {
		return nil
	}
	return &task.Trail{Pass: freeze.PassVersion, Fuel: r.Fuel}
}
