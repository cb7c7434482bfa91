package scheduler

import (
	"time"

	"godwit/scheduler/learning"
	"godwit/scheduler/ledger"
	"godwit/task"
)

type jobState uint8

const (
	jobFetching jobState = iota // its blocks are on their way; nothing was promised
	jobOpen                     // durable and acknowledged
	jobOver                     // every task has ended, or will not
)

// A job is what the coordinator keeps in memory of a job beside the ledger:
// everything here can be made again from the ledger and from reports.
type job struct {
	id        task.JobID
	spec      *task.Job
	ledger    *ledger.Job
	submitter task.PeerID
	arrival   uint64
	state     jobState
	total     uint64
	came      time.Time // when this leader took it in; zero for one taken over

	live   map[uint64]*liveTask
	wait   waiting
	chunks *chunking // nil before the first chunk, and when it is over
	class  *learning.Class

	tally
	turn
	estimates
	delivery

	// askedUntil is until when its submitter may say that it is over, before
	// anything of it is placed; zero for a job that the submitter speaks of.
	askedUntil time.Time
	// bringing counts, by task, the states on their way here that it waits for.
	bringing map[uint64]int
	tellers  []task.PeerID // replicas that told of it: they hold its blocks
	changed  bool          // in Coordinator.changed
}

// A tally counts, so that a summary costs nothing. The tasks with a lease are len(live);
// what is left of total waits.
type tally struct {
	done, failed uint64
	useful       time.Duration
	wasted       time.Duration
	reruns       uint64
	migrations   uint64
}

// A turn is where a job stands among those that claim slots.
type turn struct {
	// queued says that its claimant claims for it: it is in claim.jobs, at place, or was
	// put aside in this Step, with place -1. claim is nil while it neither waits nor
	// holds a slot. counted is what of it is in claims.waits.
	queued  bool
	claim   *claimant
	place   int
	counted int
	held    int    // leases that use a slot, or wait at a worker for one
	given   int    // tasks of it that may be placed in this round
	now     int    // those of a part
	roamed  uint64 // the Step in which it was last tried anywhere: see roam
}

// estimates are running means of what the tasks of a job take; 0 before one was measured.
type estimates struct {
	mean     time.Duration // of wall time, once measured
	measured bool
	// reference is that of a task's work, in time of the reference core, handed that of
	// what hand-overs took, and state64 that of the state's size in bytes.
	reference time.Duration
	handed    time.Duration
	state64   int64
}

// A delivery is how far a job's submitter was told of ends.
type delivery struct {
	// ready are the ended tasks not yet sent to the submitter, in the order
	// they ended; sent are those sent and not known to be held.
	ready  []uint64
	sent   []uint64
	credit bool // the submitter has answered the last Progress, or asked
	asked  bool // it wants a summary even if there is nothing to bring
	told   bool // it was told that nothing more will come

	// weights are the durable sizes of the ends that are not delivered, weight
	// their sum.
	weights map[uint64]int
	weight  int64
}

// A liveTask is a task with at least one lease.
type liveTask struct {
	index   uint64
	leases  []*lease
	copied  bool // one of the leases is a copy: see tails.go
	recalls int  // how often it was taken back for an idle worker
}

// maxRecalls bounds how often one task is moved between queues, so that tasks
// which fit nowhere better are not tossed about.
const maxRecalls = 3
