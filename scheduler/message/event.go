package message

import (
	"time"

	"godwit/overlay"
	"godwit/scheduler/ledger"
	"godwit/task"
)

// An Event is something that happened, told to a machine by its driver. A
// machine ignores events that are none of its business.
type Event interface{ event() }

// Wake says only that time has passed; the driver sends it at NextWake.
type Wake struct{}

// Received is a message from another machine. From is authenticated by the
// driver. A driver delivers messages of one peer in the order sent, and a
// machine's messages to its own node come back as Received too.
type Received struct {
	From    task.PeerID
	Message Message
}

// MemberSeen carries a member's newest advert, its signature and expiry
// already checked.
type MemberSeen struct{ Advert overlay.Advert }

// MemberLost says that the connection to a peer broke, or that its advert
// expired. It may come back: see MemberSeen.
type MemberLost struct {
	Peer   task.PeerID
	Reason string
}

// LeaderChanged tells Worker and Submitter whom to talk to. Leader is empty
// while nobody is known to lead.
type LeaderChanged struct {
	Leader task.PeerID
	Epoch  uint64
}

// Offer hands a signed job to the Submitter: its blocks are stored here. The
// Submitter keeps it until every result is held.
type Offer struct{ Record task.Record }

// CancelJob is the owner's wish to end a job, given to the Submitter of the
// node that submitted it.
type CancelJob struct{ Job task.JobID }

// ForgetJob is the owner's wish to drop a job that is over, and its results,
// given to the Submitter of the node that submitted it. A job that is not over
// stays: it has to be cancelled first.
type ForgetJob struct{ Job task.JobID }

// Fetched answers a Fetch effect, once. Err is empty when every block is held
// and on disk.
type Fetched struct {
	Key string
	Err string
	// Wrong says that the content is not as large as was said, or allowed, so that to
	// try again is of no use.
	Wrong bool
}

// Prepared answers a Prepare effect, once. Job is nil when Err is not empty.
type Prepared struct {
	ID  task.JobID
	Job *task.Job // owned by the driver; read only
	Err string
}

// Ended answers a Start effect, once, and so it does an Expect that was answered
// by Arrived.
type Ended struct {
	Task    task.TaskID
	Attempt Attempt
	Result  task.Result // signed; its outputs are stored at the worker's node
	// Handed says, of an Interrupted attempt with a HandOver, that its guest runs
	// on at the destination, which has said so; To and As are the machine's to fill
	// in. Nil for any other end: one whose destination fell silent after the freeze
	// ends Interrupted without it, its state Checkpointed before.
	Handed *Handed
}

// Arrived answers an Expect: all of the state is here, verified, and the guest
// runs. An Ended of the attempt follows, as after a Start.
type Arrived struct {
	Task    task.TaskID
	Attempt Attempt // Expect's
}

// NotArrived answers an Expect: nothing runs, and nothing will.
type NotArrived struct {
	Task    task.TaskID
	Attempt Attempt // Expect's
	Reason  string  // for people
	// Saved is the newest state that is complete here, its blocks held; nil for
	// none. It is the worker's to keep from now on: see Worker.Roots.
	Saved *Checkpoint
}

// NotHanded answers a HandOver that came to nothing: the attempt goes on here.
type NotHanded struct {
	Task    task.TaskID
	Attempt Attempt // HandOver's
	Reason  string  // for people
}

// Checkpointed says that the state of a started attempt was saved and that its
// blocks are held here. Any number may come before the attempt's Ended.
type Checkpointed struct {
	Task       task.TaskID
	Attempt    Attempt
	Checkpoint Checkpoint
	Marks      []Mark // that it came to since the one before, of a task that has replicas
}

// NotSaved answers a Stop with Save, or a HandOver, that cannot be carried out at
// all: the attempt goes on, and its state cannot be saved on its way.
type NotSaved struct {
	Task    task.TaskID
	Attempt Attempt
	Reason  string // for people
}

// OwnerState changes what a Worker may do: slots it may use at once, and why.
// Slots 0 stops new work; running tasks are the driver's to pause.
type OwnerState struct {
	State overlay.State
	Slots int
	// Memory is what running tasks may need together, in bytes; 0 for no limit.
	Memory int64
	Reason string
	// Until is when the state is known to end; zero if it is not. Leases refused
	// until then say so.
	Until time.Time
	// Withheld is the percentage of the machine's CPU, 0 to 100, that tasks do not
	// get now.
	Withheld int
}

// StateBad says that a started attempt cannot go on from the state that its lease names,
// and that nobody can: it begins anew. The word of it is the worker's to tell.
type StateBad struct {
	Task    task.TaskID
	Attempt Attempt
	Word    task.Voucher
}

func (Wake) event()          {}
func (Received) event()      {}
func (MemberSeen) event()    {}
func (MemberLost) event()    {}
func (LeaderChanged) event() {}
func (Offer) event()         {}
func (CancelJob) event()     {}
func (ForgetJob) event()     {}
func (Fetched) event()       {}
func (Prepared) event()      {}
func (Ended) event()         {}
func (Arrived) event()       {}
func (NotArrived) event()    {}
func (StateBad) event()      {}
func (NotHanded) event()     {}
func (Checkpointed) event()  {}
func (NotSaved) event()      {}
func (OwnerState) event()    {}

// An Attempt numbers the placements of a task. It lives in the ledger.
type Attempt = ledger.Attempt

// A Checkpoint is frozen state of a task. It lives in the ledger.
type Checkpoint = ledger.Checkpoint

// A Lease is a worker's right to run one attempt of a task.
type Lease struct {
	Task    task.TaskID   `cbor:"1,keyasint"`
	Attempt Attempt       `cbor:"2,keyasint"`
	TTL     time.Duration `cbor:"3,keyasint"`           // from receipt, renewed by every Report that lists it
	From    *Checkpoint   `cbor:"4,keyasint,omitempty"` // state to go on from; nil: begin
	// Await says that the state comes from another worker, as it runs; nil for a
	// lease that may start.
	Await *Await `cbor:"5,keyasint,omitempty"`
	// Left is the work that the task is expected to have left from there, in time of
	// the reference core: a guess from the job's other tasks, or its owner's. At most
	// task.MaxDuration; 0 where the leader does not know, or does not say.
	Left time.Duration `cbor:"6,keyasint,omitempty"`
	// Receipt is for the worker to show what came of it with; nil where the leader signs
	// none.
	Receipt *task.Receipt `cbor:"7,keyasint,omitempty"`
}

// GroupIs tells a Coordinator, or a Replica of its leader, who else is in the group of coordinators, by
// rank: the first of them holds the blocks too. It comes before the first other
// event and after each change.
type GroupIs struct{ Followers []task.PeerID }

// Suspected tells the Coordinator that a follower was not heard of for longer
// than it should: nothing waits for it until it is heard of again.
type Suspected struct{ Peer task.PeerID }

func (GroupIs) event()   {}
func (Suspected) event() {}

// Audited answers an Audit.
type Audited struct {
	Task        task.TaskID
	Interpreted bool
	StopAt      uint64
	Held        TaskSummary // what is held of the task, as it is stored
	// Others are what other workers came to that ran the task again, as it is stored.
	Others []task.Result
	// Here is what came of the run, signed by this node; of its outputs the blocks are here.
	// Where nothing came of it, its outcome is Interrupted or HostError. Of a run that was stopped
	// at StopAt its outcome is Interrupted, and its Trail has the fuel and the state's hash.
	Here task.Result
	// Part is the Audit's, with the states that the worker named; nil for none. Passed are the
	// boundaries that the run came to.
	Part   *Part
	Passed []task.Boundary
	// Unserved is why the part was not run, "" where it was: the state that it begins with could
	// not be had. Refused says that its worker is to blame.
	Unserved string
	Refused  bool
}

func (Audited) event() {}

// Proven says that a worker signed a wrong result of another's job: this node ran the task itself.
type Proven struct {
	Task   task.TaskID
	Worker task.PeerID
	Why    string
}

func (Proven) event() {}

// Examined answers an Examine.
type Examined struct {
	Task  task.TaskID
	Held  TaskSummary // what is held of the task; the zero value if that could not be read
	Meets bool
	Err   string // why it cannot be told, or ""
}

func (Examined) event() {}
