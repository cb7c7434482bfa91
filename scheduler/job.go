package scheduler

import (
	"fmt"
	"math"
	"slices"
	"time"

	"godwit/scheduler/learning"
	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
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
	*flowing // nil of a job without stages
	estimates
	delivery

	// askedUntil is until when its submitter may say that it is over, before
	// anything of it is placed; zero for a job that the submitter speaks of.
	askedUntil time.Time
	// divided says that its submitter went into another cell with the half of this one, and
	// has not said since which tasks are wanted here.
	divided bool
	// barred says, of tasks that the submitter has run once more, who may have them.
	barred map[uint64]bars
	// meetings are what replicas of tasks came to, by task; nil before the first.
	meetings map[uint64]*meeting
	// bringing counts, by task, the states on their way here that it waits for.
	bringing map[uint64]int
	tellers  []task.PeerID // replicas that told of it: they hold its blocks
	changed  bool          // in Coordinator.changed
	near     nearness
}

// A tally counts, so that a summary costs nothing. The tasks with a lease are len(live), of which ahead wait for
// slots; what is left of total waits for a lease.
type tally struct {
	done, failed uint64
	ahead        uint64
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
	queued bool
	claim  *claimant
	// priority is the one that counts: see claims.priorityOf.
	priority int
	// unserved is when a task of the job was last placed, or when the job began to wait after that.
	unserved time.Time
	// stopped counts its tasks that were stopped for others with nothing saved.
	stopped int
	place   int
	counted int
	held    int    // leases that use a slot, or wait at a worker for one
	given   int    // tasks of it that may be placed in this round
	now     int    // those of a part
	roamed  uint64 // the Step in which it was last tried anywhere: see roam
}

// estimates are running means of what the tasks of a job take; 0 before one was measured.
type estimates struct {
	times
	// handed is the mean of what hand-overs took, and state64 that of the state's size in bytes.
	handed  time.Duration
	state64 int64
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
	begun   int  // of leases, those that have a slot or had one
	copied  bool // one of the leases is a copy: see tails.go
	recalls int  // how often it was taken back for an idle worker
}

// maxRecalls bounds how often one task is moved between queues, so that tasks
// which fit nowhere better are not tossed about.
const maxRecalls = 3

// mayResume reports whether an attempt may go on from another's checkpoint: of replicas
// from one of its own line, see lines.go.
func (j *job) mayResume() bool { return !j.spec.Checkpoint.Off }

// work is what a task of the job takes on the reference core, as far as is known.
func (j *job) work() (d time.Duration, known bool) {
	if j.reference > 0 {
		return j.reference, true
	}
	d = j.spec.MeanWork()
	return d, d > 0
}

// duration returns how long a task of the job takes, as far as is known: what
// was measured, else what its owner guessed.
func (j *job) duration() (d time.Duration, known bool) {
	if j.measured {
		return j.mean, true
	}
	d = j.spec.MeanWork()
	return d, d > 0
}

// moveCost is what a hand-over of a task of the job takes.
func (j *job) moveCost() time.Duration {
	if j.handed > 0 {
		return j.handed
	}
	return moveGuess
}

// stateOf is about how large the state of a task of the job is, in bytes.
func (j *job) stateOf() int64 {
	if j.state64 > 0 {
		return j.state64
	}
	return min(usualState, max(mostMemory(j.spec), 1))
}

// summary counts the job's tasks. The tasks of a job that was ended early
// count as failed where they are not done.
func (j *job) summary() message.JobSummary {
	s := message.JobSummary{
		State: message.JobRunning, Total: j.total, Done: j.done, Failed: j.failed, Running: uint64(len(j.live)) - j.ahead,
		UsefulCPU: j.useful, WastedCPU: j.wasted, Reruns: j.reruns, Migrations: j.migrations,
	}
	if j.state == jobOver {
		s.Failed = j.total - min(j.total, j.done)
		s.Running = 0
	}
	s.Waiting = j.total - min(j.total, s.Done+s.Failed+s.Running)
	s.Ahead = min(j.ahead, s.Waiting)
	switch {
	case j.done+j.failed >= j.total:
		s.State = message.EndState(s.Done, s.Failed)
	case j.ledger.Facts.Cancelled():
		s.State = message.JobCancelled
	case j.ledger.Facts.Expired:
		s.State = message.JobExpired
	case j.state == jobOver: // its submitter, of an older version, did not sign that it wants no more
		s.State = message.JobCancelled
	}
	return s
}

// row returns the row of task i, made if there is none. The cursor, if it has
// come to the task, moves on: what is touched waits in the heap or not at all.
func (j *job) row(i uint64) *ledger.Row {
	row := j.ledger.Row(i)
	if j.wait.cursor == i {
		j.moveCursor(i)
	}
	return row
}

// room returns the number of further leases that the job may have.
func (j *job) room() int {
	if j.spec.Slots <= 0 {
		return math.MaxInt32
	}
	return max(0, j.spec.Slots-j.held)
}

// startable returns the number of waiting tasks that may be given to members now.
func (j *job) startable() int { return min(j.waitingCount(), j.room()) }

// full returns why the job gets no further lease although its tasks wait, "" if it may have one.
func (j *job) full() string {
	if j.room() > 0 {
		return ""
	}
	return fmt.Sprintf("the job takes at most %d slots at once", j.spec.Slots)
}

// parts is the job's weight.
func (j *job) parts() float64 { return float64(max(1, j.spec.Weight)) }

// wants returns how many more placements task i needs now: enough that, if all
// go well, Replicas results agree.
func (j *job) wants(i uint64) int {
	if !j.mayRun(i) {
		return 0
	}
	return j.lacks(i)
}

// lacks is wants of a task that may run.
func (j *job) lacks(i uint64) int {
	if j.ledger.Verdict(i) != ledger.Open || j.holdsEnd(i) {
		return 0
	}
	if j.replicated() {
		return max(0, j.spec.Replicas-j.standing(i))
	}
	want := j.spec.Replicas
	if row := j.ledger.Rows[i]; row != nil {
		want -= len(row.Agreed())
	}
	if t := j.live[i]; t != nil {
		for _, l := range t.leases {
			if !l.doubted {
				want--
			}
		}
	}
	return max(want, 0)
}

// hasEnd reports whether the attempt's result is in the ledger, so that only its
// acknowledgement was lost.
func (j *job) hasEnd(i uint64, a message.Attempt) bool {
	row := j.ledger.Rows[i]
	return row != nil && slices.ContainsFunc(row.Log, func(l message.AttemptLog) bool {
		return l.Attempt == a && ended(&l)
	})
}
