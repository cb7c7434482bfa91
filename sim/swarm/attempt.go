package swarm

import (
	"slices"
	"time"

	"godwit/scheduler/message"
	"godwit/sim"
	"godwit/task"
)

// A run is one attempt at a node.
type run struct {
	n     *node
	start message.Start
	t     *taskBook

	from   float64       // work that was done when it began, in nanoseconds of the reference core
	redo   time.Duration // CPU time of the checkpoint that could not be had
	done   float64       // work done
	at     time.Duration // as of
	rate   float64       // work a nanosecond now; 0 while it stands still
	held   bool          // it has its host though it stands still: state is brought or saved
	saving bool          // its state is being saved
	then   func()        // what to do when that is done; nil: go on
	useful time.Duration // host time in what is done, that of runs before it included
	ran    time.Duration // time since the last checkpoint
	every  time.Duration // the next comes when it has run for so long; 0 for none
	change int           // counts changes: events arranged before one are void
	over   bool
	give   *give // nil unless it is being handed over
}

// A save is a checkpoint.
type save struct {
	done   float64
	useful time.Duration
}

// An attemptName names a run at a node.
type attemptName struct {
	task    task.TaskID
	attempt message.Attempt
}

// A give is a run that is being handed over, at its source.
type give struct {
	r      *run
	e      message.HandOver
	to     *node
	life   int // to's
	begun  time.Duration
	frozen time.Duration // when the run began to stand still for it
	final  *save         // of then; nil before
}

// A take is what a node waits for.
type take struct {
	e     message.Expect
	g     *give               // nil before its source has come
	saved *message.Checkpoint // what is complete here; nil for nothing
}

func (n *node) runOf(id task.TaskID, a message.Attempt) *run {
	i := slices.IndexFunc(n.runs, func(r *run) bool { return r.start.Task == id && r.start.Attempt == a })
	if i < 0 {
		return nil
	}
	return n.runs[i]
}

func checkpointOf(c task.CID, s save) *message.Checkpoint {
	return &message.Checkpoint{CID: c, Fuel: max(1, uint64(s.done)), CPU: time.Duration(s.done)}
}

// keepsOn says whether a run is let be that would be given back: it is on its way.
func (r *run) keepsOn() bool { return r.give != nil && r.n.w.s.Hosts.Owner != sim.Kill }
