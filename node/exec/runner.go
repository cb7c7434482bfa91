package exec

import (
	"context"
	"crypto/sha256"
	"errors"
	"sync"
	"time"

	"godwit/blocks/seal"
	"godwit/overlay"
	"godwit/owner"
	"godwit/sandbox"
	"godwit/task"
)

// A Runner runs tasks. All but Close may be called from any goroutine.
type Runner interface {
	// Run runs one task. Its error is the host's fault; the task's own end, good or
	// bad, is in the report.
	Run(ctx context.Context, r Run) (sandbox.Report, error)
	// ReadsFiles reports whether tasks read their module and inputs.
	ReadsFiles() bool
	// Saves reports whether states of tasks are saved.
	Saves() bool
	// Rounds reports whether states are large enough to be sent ahead, while the task
	// runs.
	Rounds() bool
	// Pages returns the hashes of the pages that a saved state needs beside it.
	Pages(state []byte) ([][sha256.Size]byte, error)
	// Pause stops every task where it is; Resume lets them go on.
	Pause()
	Resume()
	// Cap keeps so many running tasks within a number of cores and of bytes.
	Cap(cores int, memory int64, running int) error
	// Excess returns the memory that tasks hold beyond what their jobs ask for, in bytes, by the
	// task; under "" what is held for none. It returns what is known at once.
	Excess() map[string]int64
	// Caps says how Cap does it.
	Caps() string
	// Obey has the runner ask for the owner's rules before each task. It is called before the first task.
	Obey(rules func() owner.Rules)
	// Walls reports what confines tasks on this machine. It returns soon after ctx ends.
	Walls(ctx context.Context) []owner.Finding
	// Close ends every task.
	Close() error
}

// A Job is ready to run: its files lie under the stage directory.
type Job struct {
	spec   *task.Job
	module map[task.CID]string // paths; empty where the runner reads no files
	inputs map[task.CID]string // paths of those that all tasks read
	staged []stagedName        // files taken of the staging, each as often as it was
	files  *staging            // where a task's own inputs come from
	// holders are those that the job came from.
	holders   []task.PeerID
	overlay   overlay.ID
	submitter task.PeerID
	sealer    *seal.Sealer // of all that its tasks read and write but the module; nil: nothing is sealed
	saves     saveCosts
	rows      *jobRows // of its tables; nil for none

	mu   sync.Mutex
	over bool                // it is no longer ready
	own  map[stagedName]bool // files that lie here for its tasks: see staging.rest
}

// Spec is the job as its owner signed it. It is not to be changed.
func (j *Job) Spec() *task.Job { return j.spec }

// A Run is what a Runner is to run.
type Run struct {
	Job  *Job
	Task task.TaskID
	// As is the task whose name the program runs under: clock and random bytes follow from the name. It is Task, or the
	// task of another job from which the result was taken.
	As         task.TaskID
	Invocation task.Invocation
	Of         *task.Job // of the task's stage: see task.Job.At
	given      *given    // what it reads of other tasks; nil for nothing
	State      *State    // nil for a task whose state is not saved
	// Interpreted has the program interpreted, not compiled. A Runner that runs none ignores it.
	Interpreted bool
	// StopAt is how much fuel the task uses before it is frozen, of one without State whose state
	// is looked at there and not kept; 0 for never.
	StopAt uint64
	// Most is how long the run may take, where that is less than the job's own bound; 0 for none.
	Most time.Duration

	own map[task.CID]string // paths of the inputs that the task reads beside those of the job
}

// A State is how the state of a task gets into a Runner and out of it. It is read only,
// and its functions are called on the goroutine of Run.
type State struct {
	From   []byte               // manifest of the state to go on from; nil: begin
	Stages <-chan sandbox.Stage // in place of From: the state comes from another member; nil: it does not
	Pages  sandbox.Store        // of all states
	Every  time.Duration        // save the task so often; 0: when Save says

	Stop  <-chan struct{} // closed when the task is to stop with its state
	Save  <-chan struct{} // each value asks for a checkpoint while the task goes on; nil: none does
	Due   <-chan struct{} // as sandbox.Saving.Due
	Share <-chan float64  // as sandbox.Task.Share; nil: nothing is bounded

	// OnCheckpoint is called with each state that the task has while it goes on, OnFrozen
	// with the one that it has stopped with: a manifest, the fuel used by all attempts
	// and the CPU time used by this one.
	OnCheckpoint func(manifest []byte, fuel uint64, cpu time.Duration)
	OnFrozen     func(manifest []byte, fuel uint64, cpu time.Duration)
	// OnNotSaved is called when a checkpoint could not be made, or, with freeze, when the
	// task could not stop with its state and never can.
	OnNotSaved func(why string, freeze bool)

	// OnBoundary is called with each boundary that the task comes to; nil: nobody asks.
	OnBoundary func(task.Boundary)

	// Of a state that comes in stages, each nil or called: when the Runner is ready for
	// the first, when stage n but the last was taken in, and when the task runs.
	OnStandby func()
	OnStage   func(n int)
	OnBegin   func()
	// OnEngine is called before all others with what runs the task: see task.Trail. A Runner that does not say never
	// calls it.
	OnEngine func(engine string, pass uint32)

	// OnState is as sandbox.Task.OnState; nil: states at boundaries are not kept.
	OnState func(at task.Boundary, manifest []byte) (more bool)
}

// ErrNoState is returned where the state of a task did not come to its end.
var ErrNoState = errors.New("node: the task's state did not come")

// Whole returns the state that a task begins with, nil for none, to a Runner that takes
// states whole: it waits for one that comes in stages. s may be nil.
func (s *State) Whole(ctx context.Context) ([]byte, error) {
	switch {
	case s == nil:
		return nil, nil
	case s.Stages == nil:
		return s.From, nil
	}
	if s.OnStandby != nil {
		s.OnStandby()
	}
	for n := 0; ; n++ {
		select {
		case stage, ok := <-s.Stages:
			switch {
			case !ok:
				return nil, ErrNoState
			case stage.Last:
				return stage.Manifest, nil
			}
			s.OnStage(n)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Begins says that the task runs now. s may be nil.
func (s *State) Begins() {
	if s != nil && s.OnBegin != nil {
		s.OnBegin()
	}
}

// Stopping is closed when the task is to stop with its state. s may be nil.
func (s *State) Stopping() <-chan struct{} {
	if s == nil {
		return nil
	}
	return s.Stop
}
