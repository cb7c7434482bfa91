// Package message is what the machines of a scheduler say: to their drivers as events
// and effects, and to each other as messages, with their encoding and its limits.
package message

import (
	"crypto/sha256"
	"math"
	"time"

	"godwit/scheduler/ledger"
	"godwit/task"
)

// A Message is what machines say to each other. Exactly one field is set.
// A frame on the wire is a CBOR array of messages: see EncodeFrame.
type Message struct {
	Submit   *Submit   `cbor:"1,keyasint,omitempty"` // submitter to leader
	Accepted *Accepted `cbor:"2,keyasint,omitempty"` // leader to submitter
	Progress *Progress `cbor:"3,keyasint,omitempty"` // leader to submitter
	Got      *Got      `cbor:"4,keyasint,omitempty"` // submitter to leader
	Cancel   *Cancel   `cbor:"5,keyasint,omitempty"` // submitter to leader
	Place    *Place    `cbor:"6,keyasint,omitempty"` // leader to worker
	Report   *Report   `cbor:"7,keyasint,omitempty"` // worker to leader
	Ack      *Ack      `cbor:"8,keyasint,omitempty"` // leader to worker

	// Among coordinators: see message_copy.go.
	Known  *Known  `cbor:"9,keyasint,omitempty"`  // replica to leader
	Wanted *Wanted `cbor:"10,keyasint,omitempty"` // leader to replica
	Copy   *Copy   `cbor:"11,keyasint,omitempty"` // leader to follower
	Copied *Copied `cbor:"12,keyasint,omitempty"` // follower to leader

	// Between replicas: see retired.go.
	Retired *Retired `cbor:"13,keyasint,omitempty"` // replica to follower
	Kept    *Kept    `cbor:"14,keyasint,omitempty"` // follower to replica

	Wrong *Wrong `cbor:"15,keyasint,omitempty"` // submitter to worker
	Made  *Made  `cbor:"16,keyasint,omitempty"` // submitter to leader
}

// Kind names the message that is set, for a log; "nothing" for none.
func (m *Message) Kind() string {
	for _, k := range [...]struct {
		set  bool
		name string
	}{
		{m.Submit != nil, "submit"}, {m.Accepted != nil, "accepted"}, {m.Progress != nil, "progress"},
		{m.Got != nil, "got"}, {m.Cancel != nil, "cancel"}, {m.Place != nil, "place"}, {m.Report != nil, "report"},
		{m.Ack != nil, "ack"}, {m.Known != nil, "known"}, {m.Wanted != nil, "wanted"}, {m.Copy != nil, "copy"},
		{m.Copied != nil, "copied"}, {m.Retired != nil, "retired"}, {m.Kept != nil, "kept"},
		{m.Wrong != nil, "wrong"}, {m.Made != nil, "made"},
	} {
		if k.set {
			return k.name
		}
	}
	return "nothing"
}

// Submit offers a job to the leader, for the first time or again. The leader
// fetches what the job needs, makes it durable and answers Accepted; for a job
// it knows it answers at once. Have is what the submitter holds already.
type Submit struct {
	Record task.Record `cbor:"1,keyasint"`
	Have   []Range     `cbor:"2,keyasint" most:"65536"`
	// Accepted says that a leader has accepted the job before: no rule of the
	// overlay made since may keep it from ending.
	Accepted bool `cbor:"3,keyasint,omitempty"`
	// Delivery and Signature make Have the submitter's word for every copy: see task.Held.
	Delivery  uint64 `cbor:"4,keyasint,omitempty"`
	Signature []byte `cbor:"5,keyasint,omitempty"`
	// Refused are workers that no task of the job is to go to: see Got.
	Refused []task.PeerID `cbor:"6,keyasint,omitempty" most:"64"`
	// Again are all the tasks that the submitter has run once more, which Have does not list.
	Again []Again `cbor:"7,keyasint,omitempty" most:"128"`
	// Taken are tasks of a job with stages that the submitter holds, and others still read: Have lists them when
	// all that comes of them is held.
	Taken []Range `cbor:"8,keyasint,omitempty" most:"65536"`
	// Own are those of Taken of which the submitter holds another end than it was told: its word of them stands in
	// place of all results.
	Own []Range `cbor:"9,keyasint,omitempty" most:"65536"`
}

// Again is a task of which the submitter has a result, and wants another, of another worker: an
// ordinary lease, in which nothing says that the task ran before. It is heard of the submitter's own
// jobs only.
type Again struct {
	Index uint64 `cbor:"1,keyasint"`
	// Not are workers that are not to have it: who ran it, or left a state that it went on from.
	Not []task.PeerID `cbor:"2,keyasint,omitempty" most:"16"`
	// Only are those that alone may have it; empty for all others.
	Only []task.PeerID `cbor:"3,keyasint,omitempty" most:"16"`
}

// A Range is the task indices From to To-1. It lives in the ledger.
type Range = ledger.Range

// A Set is task indices as such ranges. It lives in the ledger, too.
type Set = ledger.Set

// Accepted answers a Submit. With Error empty the job is durable at the
// leader; otherwise it was refused for good, unless RetryAfter is set.
type Accepted struct {
	Job        task.JobID    `cbor:"1,keyasint"`
	Error      string        `cbor:"2,keyasint,omitempty"`
	RetryAfter time.Duration `cbor:"3,keyasint,omitempty"`
	// Held is a later word of the submitter about what it holds than the one that is
	// answered: it has lost some since, and begins another delivery. Nil for none.
	Held *task.Held `cbor:"4,keyasint,omitempty"`
}

// Progress brings final results that the submitter lacks, at most
// MaxProgress of them; the next batch follows its Got. With no results it is
// a summary only.
type Progress struct {
	Job     task.JobID    `cbor:"1,keyasint"`
	Tasks   []TaskSummary `cbor:"2,keyasint" most:"256"`
	Summary JobSummary    `cbor:"3,keyasint"`
	// Made says that Tasks are what the sender made of them itself, as a worker: one result alone may not tell how a
	// task ended, and Summary says nothing.
	Made bool `cbor:"5,keyasint,omitempty"`
	// Unknown are tasks of a job with stages that the submitter says it holds, and of which the leader knows no
	// end: it is to send what it holds, as Made, for those that read them.
	Unknown []Range `cbor:"4,keyasint,omitempty" most:"1024"`
	// Runs are tasks that the leader's members run, of a job whose submitter went into another cell when this
	// one divided and has not said since what it wants here.
	Runs []Range `cbor:"6,keyasint,omitempty" most:"4096"`
}

// MaxRuns bounds the ranges of Progress.Runs: cells have some hundreds of members.
const MaxRuns = 4096

// A TaskSummary is the whole story of one ended task.
type TaskSummary struct {
	Index  uint64 `cbor:"1,keyasint"`
	Failed bool   `cbor:"2,keyasint,omitempty"` // Results hold the failures then
	// agreeing, signed; at least one unless the task was given up unrun
	Results  []task.Result `cbor:"3,keyasint" most:"4096"`
	Attempts []AttemptLog  `cbor:"4,keyasint" most:"32"` // every placement, in order
	Reason   string        `cbor:"5,keyasint,omitempty"` // why it failed
	// Refuted is what a worker signed that the submitter's node found wrong: Results is what that
	// node made in its place. The node keeps it; nil where nobody says so to another.
	Refuted *Refuted `cbor:"6,keyasint,omitempty"`
	// From is the task that the results are of, where they were taken from another job of the submitter's: both have
	// one name. Nil where they are the task's own. The node keeps it; nobody says so to another.
	From *task.TaskID `cbor:"7,keyasint,omitempty"`
	// Original has what the workers signed, if the results were taken from a job with another key: their outputs were
	// sealed again. Nil if Results are as they were signed. The node keeps it; nobody sends it to another.
	Original *Original `cbor:"8,keyasint,omitempty"`
	// Faulty is set if a worker that answers for Results has a proven fault and this node has not run the task again. The
	// node sets it for its owner when it reads the results; it neither keeps it nor sends it to another node.
	Faulty bool `cbor:"9,keyasint,omitempty"`
	// Signed says, where it is received, that the driver has seen that all of Results verify.
	Signed bool `cbor:"-"`
}

// An Original is the part of agreeing results that changes when their outputs are sealed under another key.
type Original struct {
	Outputs []task.Output `cbor:"1,keyasint" most:"1024"`
	Reads   []byte        `cbor:"2,keyasint,omitempty"` // see task.Result.Reads
}

// AsSigned returns result i as its worker signed it.
func (t *TaskSummary) AsSigned(i int) task.Result {
	r := t.Results[i]
	if t.Original != nil {
		r.Outputs, r.Reads = t.Original.Outputs, t.Original.Reads
	}
	return r
}

// Refuted is a result that was found wrong.
type Refuted struct {
	Result task.Result `cbor:"1,keyasint"` // as its worker signed it
	By     task.PeerID `cbor:"2,keyasint"` // in whose run the task became wrong; "" where that cannot be told
	Why    string      `cbor:"3,keyasint"` // it is wrong; at most task.MaxMessage bytes
	// Part is the interval of the run that comes to something else, where that was found; nil where
	// the whole task was run again.
	Part *RefutedPart `cbor:"4,keyasint,omitempty"`
	// Proof is what part of the run others run to see it; nil where that is the whole task.
	Proof *task.PartProof `cbor:"5,keyasint,omitempty"`
}

// A RefutedPart is an interval of a run that is wrong.
type RefutedPart struct {
	Number uint32 `cbor:"1,keyasint" json:"number"` // from 0
	From   uint64 `cbor:"2,keyasint" json:"from"`   // fuel
	To     uint64 `cbor:"3,keyasint" json:"to"`
}

// StateOf is the state that the proof of a refuted result begins with, whose blocks are kept for others;
// "" for none. w may be nil.
func (w *Refuted) StateOf() task.CID {
	if w == nil {
		return ""
	}
	return w.Result.StateOf(w.Proof)
}

// An AttemptLog is one placement of a task and how it ended. It lives in the
// ledger.
type AttemptLog = ledger.AttemptLog

// A JobSummary counts a job's tasks. Total = Waiting + Running + Done + Failed.
type JobSummary struct {
	// "running", "done", "partly", "failed", "cancelled", "expired"
	State     string        `cbor:"1,keyasint" json:"state"`
	Total     uint64        `cbor:"2,keyasint" json:"total"`
	Waiting   uint64        `cbor:"3,keyasint" json:"waiting"`
	Running   uint64        `cbor:"4,keyasint" json:"running"`
	Done      uint64        `cbor:"5,keyasint" json:"done"`
	Failed    uint64        `cbor:"6,keyasint" json:"failed"`
	UsefulCPU time.Duration `cbor:"7,keyasint" json:"useful_cpu_ns"`
	WastedCPU time.Duration `cbor:"8,keyasint" json:"wasted_cpu_ns"`
	// placements beyond the first, but for those that a task was moved to
	Reruns uint64 `cbor:"9,keyasint" json:"reruns"`
	// Migrations counts the times that a task was moved with its state.
	Migrations uint64 `cbor:"10,keyasint,omitempty" json:"migrations"`
	// Ahead are those of Waiting that a member has, and that wait for a slot there. Only a leader says it.
	Ahead uint64 `cbor:"11,keyasint,omitempty" json:"-"`
}

// AtMembers counts the tasks that members have, and AtLeader those that its leader could still give anybody.
func (s *JobSummary) AtMembers() uint64 {
	return s.Running + min(s.Ahead, s.Waiting, math.MaxUint64-s.Running)
}

// AtLeader counts the tasks that no member has.
func (s *JobSummary) AtLeader() uint64 { return s.Waiting - min(s.Ahead, s.Waiting) }

// Got says which results the submitter now holds durably, so that the leader
// may forget them.
type Got struct {
	Job  task.JobID `cbor:"1,keyasint"`
	Have []Range    `cbor:"2,keyasint" most:"65536"` // all it holds, not only the newest
	// Final says that the job is over for the submitter: it wants no more of it.
	Final bool `cbor:"3,keyasint,omitempty"`
	// Lacking are results told whose outputs nobody could give, try after try.
	Lacking []Range `cbor:"4,keyasint,omitempty" most:"1024"`
	// Signature is a Cancel's, with Final: that nothing more is wanted must be
	// believed by coordinators that take over, too.
	Signature []byte `cbor:"5,keyasint,omitempty"`
	// Delivery and Held make Have the submitter's word for every copy: see task.Held, of
	// which Held is the signature.
	Delivery uint64 `cbor:"6,keyasint,omitempty"`
	Held     []byte `cbor:"7,keyasint,omitempty"`
	// Refused are workers whose results the submitter has found wrong: they lose their leases of
	// this job and get no more. It is heard of the submitter's own jobs only, so that it keeps
	// nobody from others' work.
	Refused []task.PeerID `cbor:"8,keyasint,omitempty" most:"64"`
	// Again is as in Submit, where there is news of it; empty says nothing.
	Again []Again `cbor:"9,keyasint,omitempty" most:"128"`
	// Taken is as in Submit, all of it.
	Taken []Range `cbor:"10,keyasint,omitempty" most:"65536"`
	// Asks says that it is a question to one that does not lead: what it has of the job that is not in Have.
	Asks bool `cbor:"11,keyasint,omitempty"`
	// Own is as in Submit, all of it.
	Own []Range `cbor:"12,keyasint,omitempty" most:"65536"`
	// Rejected are tasks whose delivered ends the submitter does not accept. The leader voids their results and runs the
	// tasks again. A leader of an earlier version ignores it.
	Rejected []Range `cbor:"13,keyasint,omitempty" most:"1024"`
}

// Cancel ends a job. Only its submitter may: the signature is over "cancel "
// and the job's ID, by the key of the job's record.
type Cancel struct {
	Job       task.JobID `cbor:"1,keyasint"`
	Signature []byte     `cbor:"2,keyasint"`
	// Soon is set where what runs is to end first, and nothing more to begin. A leader of before ends
	// the job at once.
	Soon bool `cbor:"3,keyasint,omitempty"`
}

// Wrong tells a worker of a result of its own that the submitter found wrong. It asks for nothing:
// the owner of a machine that errs is to know.
type Wrong struct {
	Result task.Result `cbor:"1,keyasint"` // as the worker signed it
	Why    string      `cbor:"2,keyasint"` // in words
}

// Place gives leases to a worker.
type Place struct {
	Epoch  uint64  `cbor:"1,keyasint"`
	Leases []Lease `cbor:"2,keyasint" most:"16384"`
	// Holders of the blocks of the jobs placed, best first; the leader and
	// the submitter among them. At most MaxHolders.
	Holders map[task.JobID][]task.PeerID `cbor:"3,keyasint" most:"16384"`
	// Keys are those of the sealed jobs placed: see task.Job.Sealed.
	Keys map[task.JobID][]byte `cbor:"4,keyasint,omitempty" most:"16384"`
}

// Report is what a worker tells the leader: at once when something ended, and
// every ReportEvery as a heartbeat. Held renews leases.
type Report struct {
	Epoch   uint64    `cbor:"1,keyasint"`              // highest it has obeyed
	Slots   int       `cbor:"2,keyasint"`              // it may use now
	State   uint8     `cbor:"3,keyasint"`              // overlay.State
	Held    []Held    `cbor:"4,keyasint" most:"16384"` // everything it has and has not ended
	Ended   []Ending  `cbor:"5,keyasint" most:"256"`   // repeated until acknowledged
	Refused []Refusal `cbor:"6,keyasint" most:"16384"`
	// Full says that Held is complete, so that what it lacks is lost.
	Full bool `cbor:"7,keyasint"`
	// Born is when this worker began, in Unix nanoseconds of its own clock. A
	// change says that it has restarted and lost what it held.
	Born int64 `cbor:"8,keyasint"`
	// Saved are checkpoints taken: new ones, and in a full report the newest of
	// each lease again.
	Saved []SavedState `cbor:"9,keyasint,omitempty" most:"4096"`
	// Withheld is the percentage of the machine's CPU that tasks do not get now, 0
	// to 100.
	Withheld int `cbor:"10,keyasint,omitempty"`
	// Hands says that the worker can hand tasks over while they run, and take them.
	// To and from any other a task moves by way of the leader.
	Hands bool `cbor:"11,keyasint,omitempty"`
	// Unmoved are moves that came to nothing; said again when the order is.
	Unmoved []Unmoved `cbor:"12,keyasint,omitempty" most:"4096"`
}

// A SavedState is a checkpoint of a lease, whose blocks the worker holds.
type SavedState struct {
	Task       task.TaskID `cbor:"1,keyasint"`
	Attempt    Attempt     `cbor:"2,keyasint"`
	Checkpoint Checkpoint  `cbor:"3,keyasint"`
	// Marks are boundaries that the run has come to since the worker last told of any, of a task that
	// has replicas.
	Marks []Mark `cbor:"4,keyasint,omitempty" most:"8"`
}

// A Mark is a boundary that a run came to, as its worker tells its leader: replicas of a task that
// are right come to the same.
type Mark struct {
	Fuel  uint64            `cbor:"1,keyasint"`
	State [sha256.Size]byte `cbor:"2,keyasint"` // a task.Boundary's
}

// MaxMarks bounds the marks told with one checkpoint: the latest. One takes about fifty bytes.
const MaxMarks = 8

// AddMarks adds marks to those that are known, of which the last MaxMarks are kept.
func AddMarks(known, more []Mark) []Mark {
	all := append(known[:len(known):len(known)], more...)
	return all[max(0, len(all)-MaxMarks):]
}

// Held is a lease that a worker has and has not ended.
type Held struct {
	Task    task.TaskID `cbor:"1,keyasint"`
	Attempt Attempt     `cbor:"2,keyasint"`
	Running bool        `cbor:"3,keyasint"` // false: queued or being prepared
	// Fixed says that its state cannot be saved: it ends where it is.
	Fixed bool `cbor:"4,keyasint,omitempty"`
	// Moving is the attempt as which it is being handed over; zero for none.
	Moving Attempt `cbor:"5,keyasint,omitzero"`
	// Awaiting says that its state is to come from another worker: it does not run.
	Awaiting bool `cbor:"6,keyasint,omitempty"`
	// After is the attempt that is, or was, handed over to it; zero for none.
	After Attempt `cbor:"7,keyasint,omitzero"`
	// Receipt is the lease's, told to a leader that did not give it; nil for none.
	Receipt *task.Receipt `cbor:"8,keyasint,omitempty"`
	// Bad is the worker's word that it could not go on from the state that the lease names, and
	// began anew; nil if it could. It is told until the lease ends.
	Bad *task.Voucher `cbor:"9,keyasint,omitempty"`
	// Unproven says, where it is received, that nothing shows that the lease was given.
	Unproven bool `cbor:"-"`
}

// An Ending is the result of one attempt.
type Ending struct {
	Attempt Attempt     `cbor:"1,keyasint"`
	Result  task.Result `cbor:"2,keyasint"`
	// Handed says that the guest runs on elsewhere, as a later attempt; nil if the
	// end is one.
	Handed *Handed `cbor:"3,keyasint,omitempty"`
	// Begun says when the attempt began; nil where its worker does not know any more.
	Begun *Begun `cbor:"4,keyasint,omitempty"`
	// Unproven says, where it is received, that nothing shows that the lease was given.
	Unproven bool `cbor:"-"`
	// Signed says, where it is received, that the driver has seen that Result verifies.
	Signed bool `cbor:"-"`
}

// A Refusal gives a lease back unrun. The reason is for people.
type Refusal struct {
	Task       task.TaskID   `cbor:"1,keyasint"`
	Attempt    Attempt       `cbor:"2,keyasint"`
	Reason     string        `cbor:"3,keyasint"`
	RetryAfter time.Duration `cbor:"4,keyasint"`
}

// Ack answers a Report. Results named in Ended are durable at the leader, and
// the worker may forget them. Drop names leases to end, or that the leader
// does not know.
type Ack struct {
	Epoch uint64        `cbor:"1,keyasint"`
	Ended []AttemptName `cbor:"2,keyasint" most:"16384"`
	Drop  []AttemptName `cbor:"3,keyasint" most:"16384"`
	// Moves are tasks to be handed over to other workers.
	Moves []MoveOrder `cbor:"4,keyasint,omitempty" most:"4096"`
}

// An AttemptName names one attempt of one task.
type AttemptName struct {
	Task    task.TaskID `cbor:"1,keyasint"`
	Attempt Attempt     `cbor:"2,keyasint"`
	Reason  string      `cbor:"3,keyasint,omitempty"`
}
