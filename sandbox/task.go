package sandbox

import (
	"time"

	"godwit/task"
)

// A Task is one run of a module.
type Task struct {
	// Name ("JOB/INDEX") seeds the random bytes: the same name gives the same.
	Name string
	// Module is the module's CID or another key of its content. A warm stream
	// takes the tasks of one key only.
	Module     string
	ModulePath string   // file of this host that holds the module
	Args       []string // without the program's name, which is "task.wasm"
	Env        []task.EnvVar
	Files      []Input // read-only below the root; names must be clean and relative
	Stdin      *Input  // nil for an empty one; Name is not used
	Outputs    []string
	Limits     Limits
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
}
