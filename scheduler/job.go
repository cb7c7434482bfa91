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

	// Counters, so that a summary costs nothing. The tasks with a lease are
	// len(live); what is left of total waits.
	done, failed uint64
	useful       time.Duration
	wasted       time.Duration
	reruns       uint64
	migrations   uint64

	live   map[uint64]*liveTask
	wait   waiting
	chunks *chunking // nil before the first chunk, and when it is over

	// queued says that its claimant claims for it: it is in claim.jobs, at place, or was
	// put aside in this Step, with place -1. claim is nil while it neither waits nor
	// holds a slot. counted is what of it is in Coordinator.waits.
	queued  bool
	claim   *claimant
	place   int
	counted int
	held    int // leases that use a slot, or wait at a worker for one
	given   int // tasks of it that may be placed in this round, and now those of a part
	now     int
	roamed  uint64 // the Step in which it was last tried anywhere: see roam

	mean     time.Duration // running mean of wall time, once measured
	measured bool
	// reference is the running mean of a task's work, in time of the reference
	// core, handed that of what hand-overs took, and state64 that of the state's size
	// in bytes; 0 before one was measured.
	reference time.Duration
	handed    time.Duration
	state64   int64

	// ready are the ended tasks not yet sent to the submitter, in the order
	// they ended; sent are those sent and not known to be held.
	ready  []uint64
	sent   []uint64
	credit bool // the submitter has answered the last Progress, or asked
	asked  bool // it wants a summary even if there is nothing to bring
	told   bool // it was told that nothing more will come
	// askedUntil is until when its submitter may say that it is over, before
	// anything of it is placed; zero for a job that the submitter speaks of.
	askedUntil time.Time
	// bringing counts, by task, the states on their way here that it waits for.
	bringing map[uint64]int
	tellers  []task.PeerID // replicas that told of it: they hold its blocks

	// weights are the durable sizes of the ends that are not delivered, weight
	// their sum.
	weights map[uint64]int
	weight  int64

	class *learning.Class
	came  time.Time // when this leader took it in; zero for one taken over

	changed bool // in Coordinator.changed
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
