package exec

import (
	"sync/atomic"
	"time"

	"godwit/task"
)

// outcomes is how many outcomes there are, OutcomeUnknown among them.
const outcomes = int(task.HostError) + 1

// Ended counts attempts that came to an end here since the Executor began, audits among them. It is
// safe for concurrent use.
type Ended struct {
	by  [outcomes]atomic.Uint64
	cpu atomic.Int64
}

func (e *Ended) note(r *task.Result) {
	e.by[min(int(r.Outcome), outcomes-1)].Add(1)
	e.cpu.Add(int64(r.CPU))
}

// By returns how many there were of each outcome.
func (e *Ended) By() map[task.Outcome]uint64 {
	out := make(map[task.Outcome]uint64, outcomes)
	for o := task.Completed; int(o) < outcomes; o++ {
		out[o] = e.by[o].Load()
	}
	return out
}

// CPU is the processor time that all of them took here.
func (e *Ended) CPU() time.Duration { return time.Duration(e.cpu.Load()) }
