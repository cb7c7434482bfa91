package message

import (
	"time"

	"godwit/scheduler/ledger"
	"godwit/task"
)

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

// An Await makes a lease the end of a hand-over: the state to begin with comes
// from the worker that runs the task now, and nothing runs before it is all here.
// A later lease of the same attempt without it says that the task begins from
// what that lease names.
type Await struct {
	Worker  task.PeerID `cbor:"1,keyasint"` // who is to hand the task over, and nobody else
	Attempt Attempt     `cbor:"2,keyasint"` // that the task runs as there; less than the lease's
}
