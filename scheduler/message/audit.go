package message

import "godwit/task"

// Audit has a task of which a result is held run again on this node, whole, as soon as the
// owner's rules leave a core for it. It is answered by exactly one Audited.
type Audit struct {
	Task task.TaskID
	Key  []byte // of a sealed job; empty for none; read only
	// Interpreted has the program interpreted, not compiled: so that a fault of the compiler
	// here accuses nobody.
	Interpreted bool
}

// Audited answers an Audit.
type Audited struct {
	Task        task.TaskID
	Interpreted bool
	Held        TaskSummary // what is held of the task, as it is stored
	// Here is what came of the run, signed by this node; of its outputs the blocks are here.
	// Where nothing came of it, its outcome is Interrupted or HostError.
	Here task.Result
}

func (Audit) effect()  {}
func (Audited) event() {}

// Settled reports whether nothing of a job will change any more: its submitter has all results
// that there will be, and none is to be checked.
func (s *JobStatus) Settled() bool { return s.Final && (s.Checks == nil || s.Checks.Due == 0) }

// Checks says how far the results of a job are checked, in tasks.
type Checks struct {
	Verify  string `json:"verify"`  // as the job file has it
	Due     uint64 `json:"due"`     // are to be run again
	Doubted uint64 `json:"doubted"` // of these, of a worker that was wrong elsewhere
	Right   uint64 `json:"right"`   // gave the same when they were run again
	Wrong   uint64 `json:"wrong"`   // did not: what the submitter's node made takes their place
	Open    uint64 `json:"open"`    // it could not be told
}
