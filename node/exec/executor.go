package exec

import (
	"context"
	"time"

	"godwit/owner"
	"godwit/scheduler/message"
)

// An Executor carries out attempts. Make it with New; Close ends it.
type Executor struct {
	*core

	// What follows belongs to the loop.

	jobs     jobs
	running  map[message.AttemptName]*attempt
	waiting  []start
	arriving map[arrivalName]*destination // tasks that other members hand over to this node
	lent     owner.Decision
	excess   map[string]int64 // as the runner told it last
	beyond   int64            // its sum, in steps
	leaving  *leaving         // nil while the node stays
	audits   map[*audit]bool  // that are not over
	audited  uint64           // how many audits there were: each has a number
	pace     pace             // of hand-overs from here
}

// leaving is how long a task may take to leave a node that says goodbye.
type leaving struct {
	order time.Duration // until the leader says where to
	save  time.Duration // to be saved
}

// New returns an Executor that carries out nothing yet. The end of ctx ends all attempts
// at once.
func New(ctx context.Context, c Config) *Executor {
	x := &Executor{
		core: &core{Config: c, kept: keeping{most: keptMost, disk: keptDisk{pairs: c.Pairs}},
			hands: make(chan func())},
		running: map[message.AttemptName]*attempt{}, arriving: map[arrivalName]*destination{},
		audits: map[*audit]bool{},
	}
	x.ctx, x.halt = context.WithCancel(ctx)
	x.jobs = newJobs(x.core)
	recall{x.core}.begin()
	return x
}

// Close ends all attempts and returns when all that was started has ended. The loop has
// ended before, or the Host's Post would wait for it.
func (x *Executor) Close() error {
	x.halt()
	err := x.Runner.Close()
	x.group.Wait()
	return err
}
