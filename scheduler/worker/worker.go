// Package worker is the machine that runs tasks for whoever leads an overlay: it takes
// leases, says what came of them, and keeps results until a leader has them.
package worker

import (
	"time"

	"godwit/overlay"
	"godwit/scheduler/durable"
	"godwit/scheduler/message"
	"godwit/task"
)

// A Worker runs tasks for the leader of an overlay. It obeys one leader at a
// time, and never a lower epoch than it has seen. It keeps results, over
// restarts, until a leader has made them durable.
type Worker struct {
	self   task.PeerID
	timing message.Timing
	cfg    Config
	leader task.PeerID
	epoch  uint64 // highest seen
	born   int64  // time of the first Step; see Report.Born
	owner  message.OwnerState

	jobs    jobs
	held    map[task.TaskID]*heldLease
	queue   queue // of held, those not started
	running int   // of held, those started; started+queued = len(held)
	memory  int64 // that the running ones may need together
	ready   int   // of queue, those that may begin any moment

	results results
	faults  []Fault // at most maxFaults, the oldest first
	orphans arrivals
	news    news
	now     time.Time
	effects effects
	room    message.Room // of effects
}

// New returns a worker that has no leader and no slots: LeaderChanged
// and OwnerState give it both. timing and cfg must be valid.
func New(self task.PeerID, timing message.Timing, cfg Config) *Worker {
	w := &Worker{
		self: self, timing: timing, cfg: cfg,
		owner: message.OwnerState{State: overlay.Unavailable, Reason: "the node is starting"},
		jobs:  jobs{keep: cfg.KeepJob, known: map[task.JobID]*workerJob{}}, held: map[task.TaskID]*heldLease{},
	}
	w.results.out = &w.effects
	return w
}

// Leader returns whom the worker obeys, and the highest epoch it has seen.
func (w *Worker) Leader() (task.PeerID, uint64) { return w.leader, w.epoch }

// Leases returns how many leases it has that have not ended.
func (w *Worker) Leases() int { return len(w.held) }

// Load returns how many leases it runs, how many wait for a slot here, and how
// many results no leader has acknowledged.
func (w *Worker) Load() (running, queued, unacked int) {
	return w.running, len(w.queue), len(w.results.all)
}

// HandsTo lists the workers to which this one is handing tasks over, or has, as
// far as no leader has acknowledged it. In no order.
func (w *Worker) HandsTo() (to []task.PeerID) {
	for _, h := range w.held {
		if h.going != nil {
			to = append(to, h.going.To)
		}
	}
	for _, u := range w.results.all {
		if h := u.ending.Handed; h != nil {
			to = append(to, h.To)
		}
	}
	return to
}

// Roots lists the blocks that this worker needs kept: the outputs of results
// that no coordinator has taken, or that are told to submitters still, the checkpoints that tasks here began from or
// stopped at and have no newer one of, the states that arrived without their
// tasks, for keepArrived, and the records of the jobs prepared;
// the modules and inputs of those are the driver's to add. Sorted, each once.
// What is not listed any more may be collected.
func (w *Worker) Roots() []task.CID {
	var roots durable.RootSet
	for _, u := range w.results.all {
		roots.Add(message.RemoteOutputs(&u.ending.Result)...)
		if u.saved != nil {
			roots.Add(u.saved.CID)
		}
	}
	for i := range w.results.given.all {
		roots.Add(message.RemoteOutputs(&w.results.given.all[i].result)...)
	}
	for id := range w.jobs.known {
		roots.Add(task.CID(id))
	}
	for _, h := range w.held {
		if c := h.newest(); c != nil {
			roots.Add(c.CID)
		}
	}
	for i := range w.orphans {
		roots.Add(w.orphans[i].saved.Checkpoint.CID)
	}
	return roots.Sorted()
}

func (w *Worker) emit(e message.Effect) { w.effects.emit(e) }
