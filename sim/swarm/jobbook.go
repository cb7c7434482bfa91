package swarm

import (
	"time"

	"godwit/sim"
	"godwit/task"
)

// A jobBook is a job that came.
type jobBook struct {
	spec  *task.Job
	giver *node // whom it was handed to
	tasks []*taskBook
}

// A taskBook is what is known of one task. Times are the machines', -1 for not
// yet.
type taskBook struct {
	number  uint64 // in the order of arrival
	state   int64  // bytes of a checkpoint
	work    time.Duration
	arrived time.Duration
	begun   time.Duration // first
	ended   time.Duration

	waiting    bool // is not placed now
	impossible bool
	failed     bool          // given up by the machines
	starts     uint64        // runs begun
	losses     uint64        // runs that ended with their hosts
	returns    uint64        // runs that ended without a result, though their hosts lived
	moves      uint64        // that the leader brought about
	at         *node         // where it was placed last
	moving     bool          // its next run goes on with a move
	spent      time.Duration // host time of all its runs, as far as it is reported
	useful     time.Duration // of the last run that completed
	saved      time.Duration // of the best checkpoint
}

func (in *intake) taskOf(id task.TaskID) *taskBook { return in.jobs[id.Job].tasks[id.Index] }

func (in *intake) wait(t *taskBook, waits bool) {
	if t.waiting == waits {
		return
	}
	t.waiting = waits
	if waits {
		in.waiting++
		return
	}
	in.waiting--
	in.thirsty = true
}

// An intake is what comes into a run, and what of that waits.
type intake struct {
	arrivals *sim.Arrivals
	comes    sim.Arriving // the next
	openAt   time.Duration
	unhanded []*jobBook
	handing  bool
	handed   int
	jobs     map[task.JobID]*jobBook
	tasks    []*taskBook // by number
	waiting  int         // of tasks
	thirsty  bool        // fewer wait than before
}
