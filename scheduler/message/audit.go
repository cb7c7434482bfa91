package message

import (
	"time"

	"godwit/task"
)

// What a submitter and its driver say to each other about results that are run again.

// Audit has a task of which a result is held run again on this node, whole, as soon as the
// owner's rules leave a core for it. It is answered by exactly one Audited.
type Audit struct {
	Task task.TaskID
	Key  []byte // of a sealed job; empty for none; read only
	// Interpreted has the program interpreted, not compiled: so that a fault of the compiler
	// here accuses nobody.
	Interpreted bool
	// StopAt is how much fuel the task uses before it is stopped, so that its state there can be
	// held against one that a worker vouched for; 0 for the whole task.
	StopAt uint64
	// Part has only intervals of the result's run run again, from the state that its worker kept;
	// nil for none.
	Part *Part
	// From is a state that the run begins with; nil for the task's beginning.
	From *Began
	// Most is how long the run may take; 0 as long as any run of the job.
	Most time.Duration
	// Alone says that nobody else is left to run the task: it runs though this machine lends nothing,
	// unless its owner has all stand still.
	Alone bool
	// First says that nothing is held of the task: this node makes its result. It runs where a core is idle and
	// nothing else waits for one.
	First bool
	// Reads is what the task reads of others of its job, as a leader names it; a driver adds what its submitter holds
	// of them. Nil for nothing. It is read only.
	Reads *Reads
}

func (Audit) effect() {}

// Unneeded says that nobody waits any more for what an Audit with First comes to: it ends, and is answered as one that
// its machine ended, unless it has been.
type Unneeded struct{ Task task.TaskID }

func (Unneeded) effect() {}

// Examine asks whether a result that is held meets a condition, as task.ParseCondition reads it. It
// is answered by exactly one Examined.
type Examine struct {
	Task      task.TaskID
	Key       []byte // of a sealed job; empty for none; read only
	Condition string
}

func (Examine) effect() {}

// Compare asks what a task whose result is held reads of others, by what is held of these. It is answered by exactly
// one Compared.
type Compare struct{ Task task.TaskID }

func (Compare) effect() {}

// Compared answers a Compare.
type Compared struct {
	Task task.TaskID
	Held TaskSummary // what is held of the task; the zero value if that could not be read
	Name []byte      // of what it reads, as Reads has it
	Err  string      // why it cannot be told, or ""
}

func (Compared) event() {}

// A Part is intervals of a leg of a task's run that follow each other: see task.Trail.Leg.
type Part struct {
	Leg         int // that it is of; 0 for that of who signed the result
	First, Last int // intervals of the leg, from 0
	// States are what the worker of the leg says that it kept, of the boundaries that it signed; nil: it is to
	// be asked.
	States *task.KeptStates
	// Seek has the one interval run in which the worker's run parts from one that came to these
	// boundaries, in place of First and Last; nil: those are run.
	Seek []task.Boundary
}

// A Began is a state that a run begins with: its fuel, the hash that its worker signed, the root of its
// blocks, and who may have those.
type Began struct {
	Fuel    uint64
	Hash    []byte
	CID     task.CID
	Holders []task.PeerID
	Most    int64 // bytes that it may have, where that is less than the job's memory allows; 0 for none
}

// Released says that nobody will run intervals of a task again: its worker need keep no states.
type Released struct {
	Task   task.TaskID
	Worker task.PeerID
	Root   []byte // of the trail that it signed
}

func (Released) effect() {}

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
	// Unserved is why nothing was run, "" where it was: the state that it begins with could not be
	// had. Refused says that its worker is to blame, Lost that it says that it has lost it. Asked is the leg whose
	// worker did not serve it, or did.
	Unserved string
	Asked    int
	Refused  bool
	Lost     bool
	// First is the Audit's.
	First bool
}

func (Audited) event() {}

// Proven says that a worker signed a wrong result, or left a wrong state: this node ran the task itself. The
// submitter is told so of another's job; it says so, of any, to the coordinator of the same member.
type Proven struct {
	Task   task.TaskID
	Worker task.PeerID
	Why    string
	// Until is when that is too old to keep leases from the worker; zero where a submitter is told.
	Until time.Time
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
