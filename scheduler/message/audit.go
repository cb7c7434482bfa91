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
