package message

import (
	"errors"
	"fmt"
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
	// Reads is what the task reads of other tasks of its job; nil of a task that reads none.
	Reads *Reads `cbor:"8,keyasint,omitempty"`
}

// Reads is what a task reads that other tasks of its job made.
type Reads struct {
	// Files are named as the task sees them; see task.Job.FilesOf. Sorted by name, each once.
	Files []task.Output `cbor:"1,keyasint,omitempty" most:"4096"`
	// Sources are the workers that made them, and Makers says for each file which of these it was: the
	// number of Sources where it is none of them.
	Sources []task.PeerID `cbor:"2,keyasint,omitempty" most:"256"`
	Makers  []uint16      `cbor:"4,keyasint,omitempty" most:"4096"`
	// Fault says that the task cannot read it, and why: it fails. At most task.MaxMessage bytes.
	Fault string `cbor:"3,keyasint,omitempty"`
}

// Name names the files, as a worker signs that it read them; nil where nothing is read, or cannot be.
func (r *Reads) Name() []byte {
	if r == nil || r.Fault != "" {
		return nil
	}
	name, err := task.NameFiles(r.Files)
	if err != nil {
		return nil
	}
	return name[:]
}

// TooManyReads is what a task reads that would read so many files.
func TooManyReads(files int) *Reads {
	return &Reads{Fault: fmt.Sprintf("it reads %d files of other tasks, the most is %d", files, task.MaxReads)}
}

// MaxSources bounds the workers that are named as those that made what a task reads. What others made is
// looked for at the leader and the submitter.
const MaxSources = 256

func (r *Reads) check() error {
	if r == nil {
		return nil
	}
	if len(r.Fault) > task.MaxMessage || len(r.Sources) > MaxSources || len(r.Files) > task.MaxReads ||
		len(r.Makers) != len(r.Files) {
		return fmt.Errorf("lease of a task that reads %d files of %d workers", len(r.Files), len(r.Sources))
	}
	for i := range r.Files {
		if err := r.Files[i].Check(); err != nil {
			return fmt.Errorf("lease of a task that reads a file: %w", err)
		}
		if i > 0 && r.Files[i-1].Name >= r.Files[i].Name {
			return errors.New("lease of a task that reads files that are not sorted by name, each once")
		}
		if int(r.Makers[i]) > len(r.Sources) {
			return errors.New("lease of a task that reads a file of a worker that is not named")
		}
	}
	return nil
}

// An Await makes a lease the end of a hand-over: the state to begin with comes
// from the worker that runs the task now, and nothing runs before it is all here.
// A later lease of the same attempt without it says that the task begins from
// what that lease names.
type Await struct {
	Worker  task.PeerID `cbor:"1,keyasint"` // who is to hand the task over, and nobody else
	Attempt Attempt     `cbor:"2,keyasint"` // that the task runs as there; less than the lease's
}
