package message

import (
	"fmt"

	"godwit/task"
)

// A Made tells the leader, from a submitter, of results of its own job that it holds, and that the leader has not:
// those of before the leader came to know the job, or that were lost with its copy of the ledger. Leases of tasks
// that read them are made from it. They are the submitter's word about its own job: nobody else's hangs on it.
type Made struct {
	Job   task.JobID `cbor:"1,keyasint"`
	Tasks []MadeTask `cbor:"2,keyasint" most:"256"`
}

// A MadeTask is the end of a task that a submitter holds.
type MadeTask struct {
	Index   uint64        `cbor:"1,keyasint"`
	Failed  bool          `cbor:"2,keyasint,omitempty"`
	Outputs []task.Output `cbor:"3,keyasint,omitempty" most:"1024"` // none of one that failed
}

// check keeps the bounds that the machines rely on.
func (m *Made) check() error {
	if len(m.Tasks) > MaxProgress {
		return fmt.Errorf("%d tasks that were made, the most is %d", len(m.Tasks), MaxProgress)
	}
	return nil
}

// A Reused is the end of a task of one job, as another job of the same submitter takes it.
type Reused struct {
	Of  task.TaskID // the task that it is held of
	End TaskSummary // with the index of the task that takes it, and From
}

// Reuse hands the Submitter results of other jobs that it holds, for a job that was offered as one that waits for
// them: see Offer. With Last the job goes on.
type Reuse struct {
	Job   task.JobID
	Tasks []Reused
	Last  bool
}

func (Reuse) event() {}

// Recall asks a driver for what is kept of tasks whose results a Submitter holds. It answers with Recalled, once.
type Recall struct {
	Job   task.JobID
	Tasks []uint64
}

func (Recall) effect() {}

// Recalled answers a Recall, with what could be read.
type Recalled struct {
	Job   task.JobID
	Tasks []TaskSummary
}

func (Recalled) event() {}

// Taken says how many results of a job were taken from another one.
type Taken struct {
	Job   task.JobID `cbor:"1,keyasint" json:"job"`
	Tasks uint64     `cbor:"2,keyasint" json:"tasks"`
}
