package sandbox

import (
	"cmp"
	"crypto/sha256"
	"time"

	"godwit/task"
)

// A Task is one run of a module.
type Task struct {
	// Name ("JOB/INDEX") seeds the random bytes: the same name gives the same.
	Name string
	// Module is the module's CID or another key of its content. A warm process takes the tasks of one module and one
	// Tenant only.
	Module     string
	Tenant     Tenant
	ModulePath string   // file of this host that holds the module
	Args       []string // without the program's name, which is "task.wasm"
	Env        []task.EnvVar
	Files      []Input // read-only below the root; names must be clean and relative
	Stdin      *Input  // nil for an empty one; Name is not used
	Outputs    []string
	Limits     Limits

	// Checkpoint is what the job says; only Off matters here. It lets a module
	// run that cannot be frozen. One that can be is prepared for it all the
	// same, so that its fuel is counted.
	Checkpoint task.Checkpoint
	Saving
	Staging
	Trailing

	// OnEngine is called on Run's goroutine, before all others, with what runs the program, and the version of the
	// pass that counts its fuel: see task.Trail.
	OnEngine func(engine string, pass uint32)
	// OnBegin is called on Run's goroutine when the program itself begins to
	// run or goes on: its process has started, its module is compiled, its
	// state restored.
	OnBegin func()
	// OnFuel is called on Run's goroutine about each FuelEvery while the program
	// runs, with the fuel used since the task's beginning, as long as that grows:
	// progress, and what the task has cost so far. It may lag by a millisecond's
	// worth. Report.Fuel is exact.
	OnFuel func(fuel uint64)
	// FuelEvery is how often OnFuel is called; 0 is each second.
	FuelEvery time.Duration
	// Share lets the program run only a share of the time, above 0 and at most 1,
	// which is all of it: the newest value received holds, from the next safe point
	// on. It is for a task on its way elsewhere that changes its memory faster than
	// that can be sent. The task's time limit counts the rest as well. nil bounds
	// nothing. It needs Pages.
	Share <-chan float64
	// ThawEvery freezes the task and thaws it in place each time it has used
	// so much fuel. It is for tests, and changes nothing that a task can see.
	ThawEvery uint64
	ready     bool // make the module ready, and run nothing
	StateHash bool // put the hash of the whole state at the end into the report
}

// A Saving says which checkpoints of a task are made, and which it goes on from. The
// zero value begins, and makes none. All of it needs Pages.
type Saving struct {
	Pages Store         // where checkpoints go to and come from; nil: none are made
	From  []byte        // manifest of a checkpoint to go on from; nil begins
	Every time.Duration // between two checkpoints while the task runs; 0 none
	// OnCheckpoint is called on Run's goroutine with each checkpoint made while
	// the task goes on, once all that the manifest refers to is in Pages, and
	// with the fuel used until then, and the CPU time that Run's process used for it,
	// preparation included. The slice is the callee's.
	OnCheckpoint func(manifest []byte, fuel uint64, cpu time.Duration)
	// OnNotSaved is called on Run's goroutine when a checkpoint that was asked for,
	// or, with freeze, the state to stop with, could not be made: the task goes on,
	// and is not frozen by this Run any more. why is for people.
	OnNotSaved func(why string, freeze bool)
	// Save has a checkpoint made for each value received, while the task goes on;
	// it comes through OnCheckpoint. Values that come while one is being made ask
	// for one more together. nil, or closed, never does. A task that stands still
	// is saved when it goes on.
	Save <-chan struct{}
	// Due is Save for what need not be at once: with Due not nil, such a checkpoint and those of Every are made at a
	// boundary, where one comes soon, so that others have one of the same state. Values that come meanwhile are void.
	Due <-chan struct{}
	// Freeze, when closed, freezes the task: Run reports Interrupted, and the
	// checkpoint in Frozen. nil never does. It works on a task that stands still by
	// Pool.Pause or Pool.Throttle too: its process alone is let go on until it has
	// handed over the state, and the program no further than to its next safe
	// point. The process ends with it, so that its memory is free.
	Freeze       <-chan struct{}
	FreezeAtFuel uint64 // freeze at the first poll with this much fuel used; 0 never
}

// A Staging gives the state to go on from in stages, in place of Saving.From, if Stages
// is not nil: see Stage. It needs Pages.
type Staging struct {
	Stages <-chan Stage
	// OnStandby is called on Run's goroutine when the module is compiled and the
	// process waits for stages.
	OnStandby func()
	// OnStage is called on Run's goroutine when the pages of manifest n of Stages
	// (from 0) are in the task's memory, unless it is the last.
	OnStage func(n int)
}

// usualFuelEvery is how often a task's fuel is told: often enough for a person who
// watches, and nothing beside what a second of work costs.
const usualFuelEvery = time.Second

// fuelEvery is how often the child is to tell the fuel; 0 for never.
func (t *Task) fuelEvery() time.Duration {
	if t.OnFuel == nil {
		return 0
	}
	return cmp.Or(t.FuelEvery, usualFuelEvery)
}

// A Store keeps the blocks of checkpoints by the SHA-256 of their content,
// compressed as package sandbox/freeze does. It must be safe for concurrent
// use.
type Store interface {
	Has(h [sha256.Size]byte) bool
	Put(h [sha256.Size]byte, block []byte) error // may keep block
	Get(h [sha256.Size]byte) ([]byte, error)
}

// An Input is content for a task: a file of this host, which must not change
// while a Pool uses it, or Data where Path is empty.
type Input struct {
	Name string
	Path string
	Data []byte
}

// A File is one output of a task.
type File struct {
	Name string // "stdout", "stderr", or a path below the root
	Data []byte
}

// A Report says how a task ended.
type Report struct {
	Outcome  task.Outcome
	ExitCode uint32 // of Completed (0) and ExitFailure
	Message  string // for people; at most task.MaxMessage bytes; empty if completed
	// Outputs are those of Task.Outputs that exist, sorted by name, whenever
	// the program itself came to an end, be it a bad one. A task that was
	// killed has none.
	Outputs    []File
	CPU        time.Duration // used by the task, preparation included
	Wall       time.Duration // from hand-over to answer, without pauses
	PeakMemory int64         // bytes of linear memory at the end; it never shrinks

	// Fuel is what the task has used since its beginning, wherever that was:
	// about one unit for each instruction, the same on every machine. 0 for a
	// module that cannot be frozen.
	Fuel uint64
	// StateHash is the hash of memory, globals, tables, files, clock, random
	// stream and fuel at the end, however often the task moved: of a frozen
	// task always, of others if the task asked for it, or has a trail. Zero if
	// there is none.
	StateHash [sha256.Size]byte
	// Trail are the boundaries, ascending, that this Run came to, as far as they
	// are kept: at the multiples of the least doubling of Task.Spacing of which
	// Fuel holds at most task.MaxBoundaries. So it is the end of what a run from the
	// beginning has. A task that ended with less fuel than task.MinIntervals spacings
	// has none; a frozen one has what it came to.
	Trail       []task.Boundary
	Spacing     uint64 // of the task, as it asked
	Boundaries  BoundaryStat
	Frozen      []byte           // manifest of the checkpoint of a frozen task
	Checkpoints []CheckpointStat // made, in order; that in Frozen is the last
	Restore     time.Duration    // it took to put the task into the state of From
	// NotFrozen is why the last checkpoint that was asked for could not be
	// made; the task went on. Empty if none failed.
	NotFrozen string
	// Engine is what ran the program: see task.Trail.
	Engine string
}

// CheckpointStat is what one checkpoint cost.
type CheckpointStat struct {
	Bytes       int64         // of the whole state
	StoredBytes int64         // of manifest and blocks that the Store did not have yet
	Pause       time.Duration // for which the task stood still; of a frozen one, until all was handed over
}
