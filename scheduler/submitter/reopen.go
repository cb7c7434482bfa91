package submitter

import (
	"fmt"
	"strings"

	"godwit/scheduler/durable"
	"godwit/scheduler/ledger"
	"godwit/task"
)

// JobsPrefix begins the key of every job that the Submitter keeps.
const JobsPrefix = submitterJob

// OwnPrefix begins every key of the Submitter. Its pairs exist on no other node.
const OwnPrefix = submitterPrefix

// A Kept is a job as it is kept under a key that begins with JobsPrefix.
type Kept struct {
	ID     task.JobID
	Record task.Record
	Final  bool   // all of its results were stored here, or will never be
	Error  string // why it was refused; "" if it was not
	Held   uint64 // results that a final job had; 0 for other jobs
	state  submittedState
}

// DecodeKept reads the job under a key. It does not check that the record is that of the job.
func DecodeKept(key string, value []byte) (*Kept, error) {
	k := &Kept{ID: task.JobID(strings.TrimPrefix(key, submitterJob))}
	if err := task.Decode(value, &k.state); err != nil {
		return nil, fmt.Errorf("scheduler: job: %w", err)
	}
	have, err := ledger.MakeSet(k.state.Have)
	if err != nil {
		return nil, fmt.Errorf("scheduler: job: %w", err)
	}
	k.Record, k.Final, k.Error, k.Held = k.state.Record, k.state.Final, k.state.Error, have.Count()
	return k, nil
}

// Blocks lists the blocks that the job needs to go on: its record, its modules and its inputs.
func (k *Kept) Blocks() ([]task.CID, error) {
	spec, err := k.Record.Open()
	if err != nil {
		return nil, err
	}
	return durable.JobBlocks(k.ID, spec), nil
}

// Lost returns the job as it is to be kept if only some of its results are left on the disk. With
// again, the job is no longer final, so that the results are fetched, or its tasks run, again. A job
// that was canceled or refused stays as it was, with the results that are left.
func (k *Kept) Lost(again bool) ([]byte, error) {
	st := k.state
	st.Have, st.Failed, st.Reused = nil, 0, nil
	if again && !st.Cancelled && st.Error == "" && !st.Ending && st.Delivery+1 < ledger.MaxDelivery {
		st.Final = false
		st.Delivery++
	}
	return durable.Encode(&st)
}

// ForgottenKey returns the key under which the Submitter notes that the job was forgotten to which
// one of its other keys belongs, or "" if that key belongs to no job.
func ForgottenKey(key string) string {
	for _, prefix := range []string{submitterJob, ResultsPrefix, submitterChecks, submitterLoans, submitterOthers} {
		if rest, ok := strings.CutPrefix(key, prefix); ok {
			id, _, _ := strings.Cut(rest, "/")
			return submitterForgotten + id
		}
	}
	return ""
}
