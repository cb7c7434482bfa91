package scheduler

import (
	"time"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/scheduler/replication"
	"godwit/scheduler/timer"
	"godwit/task"
)

// Durable keys of the Coordinator: its epoch, and the ledger's pairs.
const (
	coordinatorPrefix = "c/"
	epochKey          = coordinatorPrefix + "epoch"
)

// A Coordinator leads an overlay: it keeps the ledger, gives out leases and takes in
// results. It is made of parts, each with a state of its own, which share what all need: the
// ledger, the time of the Step, its effects, and what is to be looked at later.
type Coordinator struct {
	self   task.PeerID
	cfg    Config
	ledger *ledger.Ledger
	timers timer.Queue[reminder]
	led    func(leader task.PeerID, epoch uint64) bool // whose receipts are believed; nil: nobody's

	term     term                  // since when it leads, and what it found
	table    jobTable              // who wants what
	members  membership            // who could do it
	reports  reports               // what came of it, by the word of workers
	replicas *replication.Replicas // who else knows
	seeker   seeker                // blocks that should be held here
	learnt   *rates                // of classes of tasks

	claims   claims   // whose turn it is
	chunks   chunks   // how much at once
	dispatch dispatch // where it goes
	nearby   nearby   // which of a job's tasks go there

	migration migration // what should go elsewhere
	transfers transfers // how it goes

	// What one Step gathers.
	now     time.Time
	effects []message.Effect
	room    message.Room // of effects
	outbox  outbox
	changed []*job // to be told about
}

// reminder is what a timer is for. One field is set; none means placing may
// begin.
type reminder struct {
	host   task.PeerID       // look at its leases, its grace and its pauses
	job    task.JobID        // look at its deadline, and whether its submitter answered
	tick   bool              // look after followers
	sought *message.HoldName // seek its blocks again
	scan   bool              // look whether tasks should move
	tail   bool              // look at the tails of jobs
	ask    bool              // ask the placement policy again
	shares bool              // look who has how many slots
	aging  bool              // look which jobs have waited for long
	// divided is a job whose submitter is in another cell: say again what runs of it
	divided task.JobID
}

// Epoch returns the coordinator's term.
func (c *Coordinator) Epoch() uint64 { return c.term.epoch }

// NextWake says when time alone will make the coordinator do something.
func (c *Coordinator) NextWake() (time.Time, bool) { return c.timers.Next() }

func (c *Coordinator) emit(e message.Effect) { c.effects = append(c.effects, e) }

func (c *Coordinator) decided(id task.TaskID, action string, peer task.PeerID, reason string) {
	c.emit(message.Decided{Task: id, Action: action, Peer: peer, Reason: reason})
}

// touch marks a job to be told about at the end of the Step.
func (c *Coordinator) touch(j *job) {
	if !j.changed {
		j.changed = true
		c.changed = append(c.changed, j)
	}
}
