package message

import (
	"time"

	"godwit/overlay"
	"godwit/task"
)

// An Event is something that happened, told to a machine by its driver. A
// machine ignores events that are none of its business.
type Event interface{ event() }

// Wake says only that time has passed; the driver sends it at NextWake.
type Wake struct{}

// Received is a message from another machine. From is authenticated by the
// driver. A driver delivers messages of one peer in the order sent, and a
// machine's messages to its own node come back as Received too. It is told by its pointer, and
// read only: as most of what happens are messages, neither is copied for it.
type Received struct {
	From    task.PeerID
	Message *Message
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
type Offer struct {
	Record task.Record
	// Waits has the job wait for a Reuse that is the last, before anybody hears of it. A Submitter that begins anew
	// meanwhile goes on with what it was given.
	Waits bool
}

// CancelJob is the owner's wish to end a job, given to the Submitter of the
// node that submitted it.
type CancelJob struct {
	Job  task.JobID
	Soon bool // what runs is to end first, and nothing more to begin
}

// RemoveTasks is the owner's wish that tasks of a job do not run, given to the Submitter of the node that submitted it.
// Tasks that have ended keep their ends.
type RemoveTasks struct {
	Job   task.JobID
	Tasks []Range
}

// CheckMore is the owner's wish that this machine runs so many tasks of a job again beyond the limit for checks.
type CheckMore struct {
	Job   task.JobID
	Tasks uint64
}

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
	// Submitter signed the job; "" where the driver does not know: then nobody is told of its results but leaders.
	Submitter task.PeerID
	Err       string
}

// Ended answers a Start effect, once, and so it does an Expect that was answered
// by Arrived.
type Ended struct {
	Task    task.TaskID
	Attempt Attempt
	Result  task.Result // signed, or signable by a worker that signs; its outputs are stored at the worker's node
	// Handed says, of an Interrupted attempt with a HandOver, that its guest runs
	// on at the destination, which has said so; To and As are the machine's to fill
	// in. Nil for any other end: one whose destination fell silent after the freeze
	// ends Interrupted without it, its state Checkpointed before.
	Handed *Handed
	// Then is what has begun in its place, of what was Ready; nil for nothing. Only one that Completed has any.
	Then *AttemptName
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
func (*Received) event()     {}
func (MemberSeen) event()    {}
func (MemberLost) event()    {}
func (LeaderChanged) event() {}
func (Offer) event()         {}
func (CancelJob) event()     {}
func (RemoveTasks) event()   {}
func (CheckMore) event()     {}
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

// GroupIs tells a Coordinator, or a Replica of its leader, who else is in the group of coordinators, by
// rank: the first of them holds the blocks too. It comes before the first other
// event and after each change.
type GroupIs struct{ Followers []task.PeerID }

// Suspected tells the Coordinator that a follower was not heard of for longer
// than it should: nothing waits for it until it is heard of again.
type Suspected struct{ Peer task.PeerID }

func (GroupIs) event()   {}
func (Suspected) event() {}
