package worker

import (
	"slices"
	"time"

	"godwit/scheduler/message"
	"godwit/task"
)

// A heldLease is a lease that has not ended.
type heldLease struct {
	task    task.TaskID
	attempt message.Attempt // the newest that names it
	terms
	started message.Attempt // the one it was started as, by which Ended names it
	job     *workerJob
	from    *message.Checkpoint // state it begins with; nil for none
	bad     *task.Voucher       // that it could not go on from there; nil if it could
	left    time.Duration       // work from there to its end, as its lease says; 0 unknown
	holders []task.PeerID       // of from
	saved   *message.Checkpoint // the newest taken here; nil for none
	told    bool                // saved has been reported
	marks   tellable            // of its run
	taken   time.Time           // here
	begun   time.Time           // its guest was to run; zero before
	running bool
	dropped bool // stopped by the leader: its end is news only if it completed
	moving  bool // stopped by the leader, with its state
	fixed   bool // its state cannot be saved

	readiness

	// As the destination of a hand-over. While expected, running says that it has
	// its slot: the guest does not run yet.
	await    *message.Await  // who brings its state; nil if it starts by itself, or has arrived
	after    message.Attempt // that was handed over to it; zero for none
	expected bool            // Expect was not answered
	back     string          // why it is given back once it is not expected any more
	next     *message.Lease  // to be taken then; nil for none
	departure
}

// A departure is how a lease's task leaves for another member.
type departure struct {
	going   *message.MoveOrder // under way; nil for none
	unmoved *message.Unmoved   // the last that came to nothing; nil for none
}

// terms are what the leader gave with a lease.
type terms struct {
	receipt *task.Receipt  // the newest; nil for none
	reads   *message.Reads // of other tasks of the job; nil for nothing
}

// A tellable is marks that a run has come to, of which the last have not been reported.
type tellable struct {
	all    []message.Mark
	unsaid int
}

func (t *tellable) add(more []message.Mark) {
	t.all = message.AddMarks(t.all, more)
	t.unsaid = min(t.unsaid+len(more), len(t.all))
}

// next returns what was never reported, or all.
func (t *tellable) next(all bool) []message.Mark {
	n := t.unsaid
	if t.unsaid = 0; all {
		return t.all
	}
	return t.all[len(t.all)-n:]
}

// awaits says whether a lease's state is to come from another worker.
func (h *heldLease) awaits() bool { return h.await != nil }

// newest returns the checkpoint that a lease would go on from, or nil.
func (h *heldLease) newest() *message.Checkpoint {
	if h.saved != nil {
		return h.saved
	}
	return h.from
}

// tell is what a report to the leader of an epoch says of a lease that has not ended.
func (h *heldLease) tell(epoch uint64) message.Held {
	t := message.Held{Task: h.task, Attempt: h.attempt, Running: h.running && !h.expected, Fixed: h.fixed,
		Awaiting: h.await != nil, After: h.after, Bad: h.bad}
	if h.going != nil {
		t.Moving = h.going.As
	}
	if h.attempt.Epoch != epoch { // else the leader gave it, and knows
		t.Receipt = h.receipt
	}
	return t
}

// A queue has leases that have not started, by attempt.
type queue []*heldLease

func (q *queue) add(h *heldLease) {
	i, _ := slices.BinarySearchFunc(*q, h.attempt,
		func(other *heldLease, a message.Attempt) int { return other.attempt.Compare(a) })
	*q = slices.Insert(*q, i, h)
}

func (q *queue) remove(h *heldLease) {
	if i := slices.Index(*q, h); i >= 0 {
		*q = slices.Delete(*q, i, i+1)
	}
}
