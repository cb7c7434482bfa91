package message

import (
	"time"

	"godwit/task"
)

// An Effect is something a driver must now do. Effects are carried out in the
// order given, and every Persist is on disk before any Send that follows it,
// of the same Step or a later one. A driver may gather the effects of several
// Steps and make their Persists durable together, as long as it holds the
// Sends back until then.
type Effect interface{ effect() }

// Send hands a message to a peer's outbox, or back to this node's own
// machines when To is this node. It may be lost if the peer goes away; every
// machine repeats what matters.
type Send struct {
	To      task.PeerID
	Message Message
}

// Persist changes the machine's durable state: key to value, nil to delete.
// On a restart all pairs are given to the machine's Restore. Keys of a machine
// begin with its own prefix ("c/", "s/").
type Persist struct {
	Key   string
	Value []byte
}

// Fetch brings whole DAGs to this node's blocks, from any of the holders, and
// makes them durable. It is answered by one Fetched with the same Key.
type Fetch struct {
	Key     string
	CIDs    []task.CID
	Holders []task.PeerID
	// Sizes are the bytes that files among CIDs must have: what somebody has signed.
	Sizes map[task.CID]int64
	Most  int64 // bytes of all together; 0: what the driver allows
}

// Prepare brings a job's record, its module and the inputs that all its tasks read to this
// node and makes them ready to run; what a task reads beside them comes with its Start. It is
// answered by one Prepared, unless a Release comes first, which
// ends it. A sealed job is ready only with its key: see task.Job.CheckKey.
type Prepare struct {
	Job     task.JobID
	Holders []task.PeerID
	Key     []byte // of the job, by the leader's word; empty for none; read only
}

// Start runs one attempt, once the inputs are here that are its own, from a checkpoint if there
// is one; if that cannot be had, from the beginning. The holders have the blocks of both. It is
// answered by exactly one Ended.
type Start struct {
	Task    task.TaskID
	Attempt Attempt
	From    *Checkpoint // nil: begin; read only
	Holders []task.PeerID
	Left    time.Duration // the lease's: work from From to the end; 0 unknown
	Receipt *task.Receipt // the lease's, for its result; nil for none
	Reads   *Reads        // the lease's; read only
}

// Stop ends a started attempt early; its Ended follows, with whatever outcome
// it came to. With Save its state is wanted: Checkpointed comes before that
// Ended, which is Interrupted. Where it cannot be saved the attempt goes on, and
// NotSaved answers; only one that must not go on either ends all the same. A
// later Stop without Save ends it in any case.
type Stop struct {
	Task    task.TaskID
	Attempt Attempt
	Reason  string
	Save    bool
}

// HandOver moves a started attempt to another worker while it runs: its state is
// sent there ahead, the guest stands still for the rest, and never runs here
// again once it was frozen for it. Nothing is sent ahead where the machine's owner
// leaves no time for it, which the driver knows better than the leader. It is answered
// once: by NotHanded, and the attempt goes on here, by NotSaved where its state can
// never be saved, or by the attempt's Ended, with Handed if the destination said that
// it runs. A Stop ends it, whichever came of it.
type HandOver struct {
	Task    task.TaskID
	Attempt Attempt // as Start, or Expect, named it
	// Named is the attempt by which the destination knows it: the newest that the
	// leader gave it here. It equals Attempt unless the lease was renewed.
	Named Attempt
	To    task.PeerID
	As    Attempt // the destination's
}

// Expect makes a slot ready for a task that another worker hands over: its job is
// prepared here. Nobody else, and no other attempt, may hand it over; nothing
// runs before the source has frozen the guest and all of its state is here. It is
// answered by exactly one Arrived or NotArrived, unless a Start of the same
// attempt comes first: the state is not to come, what Start says is begun, and
// Start's own answer follows. A Start that finds the guest running here already,
// its Arrived told, is to be ignored. A Stop ends it: NotArrived follows, or
// Ended if it ran.
type Expect struct {
	Task        task.TaskID
	Attempt     Attempt
	From        task.PeerID
	FromAttempt Attempt
	Holders     []task.PeerID // of the job's blocks
	Left        time.Duration // the lease's: work to the end, when it was offered; 0 unknown
	Receipt     *task.Receipt // the lease's, for its result; nil for none
	Reads       *Reads        // the lease's; read only
}

// Accuse says that a replica is wrong on the way, as this node's run of a part shows: the first state of Chain is
// wrong if the next is right, or the beginning of the task where that is the only one; where Part is not nil that part
// of the leg before it is. The driver looks again, and shows it to others.
type Accuse struct {
	Record task.Record
	Task   task.TaskID
	Chain  []task.Link // at least one; read only
	Part   *task.PartProof
}

// Release says that a job is over for this machine: what Prepare or Fetch
// brought for it may be dropped.
type Release struct{ Job task.JobID }

// JobChanged tells whoever watches that a job's status is worth reading again.
type JobChanged struct {
	Job   task.JobID
	Final bool // as in JobStatus, from now on
}

// Decided is a decision with its reason, for the log and for `godwit why`.
type Decided struct {
	Task task.TaskID
	// "placed", "requeued", "failed", "done", "refused", "moving", "moved", "stays", "saving", "awaited", "copied", ...
	Action string
	Peer   task.PeerID
	Reason string
}

func (Send) effect()       {}
func (Persist) effect()    {}
func (Fetch) effect()      {}
func (Prepare) effect()    {}
func (Start) effect()      {}
func (Stop) effect()       {}
func (HandOver) effect()   {}
func (Expect) effect()     {}
func (Release) effect()    {}
func (JobChanged) effect() {}
func (Decided) effect()    {}
func (Accuse) effect()     {}

// Outrun says that a peer has obeyed a later epoch than this coordinator's, which it
// therefore does not obey, by its own word. The driver tells its overlay.Lease (Refused,
// without a leader); if that leads on, in a higher epoch, it calls Begin.
type Outrun struct {
	From  task.PeerID
	Epoch uint64
}

func (Outrun) effect() {}
