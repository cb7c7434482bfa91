package submitter

import (
	"fmt"

	"godwit/scheduler/durable"
	"godwit/scheduler/message"
	"godwit/task"
)

// Prefixes of the Submitter's durable keys.
const (
	submitterPrefix    = "s/"
	submitterJob       = submitterPrefix + "j/"
	submitterForgotten = submitterPrefix + "f/"
	submitterChecks    = submitterPrefix + "v/" // what is known of results that are checked
	submitterCredits   = submitterPrefix + "w/" // and of who signed them
	submitterProven    = submitterPrefix + "p/" // and who was proven wrong
	submitterLoans     = submitterPrefix + "l/" // what other cells have of jobs
	submitterOthers    = submitterPrefix + "a/" // results of others that run a task again
	submitterTellers   = submitterPrefix + "r/" // other submitters, and what they say of workers

	// ResultsPrefix begins the key of every result that the Submitter holds,
	// of whichever job. The output blocks that the values name are to be kept:
	// see OutputsOf.
	ResultsPrefix = submitterPrefix + "t/"
)

// submittedState is the durable part of a job beside its results.
type submittedState struct {
	Record    task.Record        `cbor:"1,keyasint"`
	Accepted  bool               `cbor:"2,keyasint,omitempty"`
	Cancelled bool               `cbor:"3,keyasint,omitempty"` // the owner's wish
	Error     string             `cbor:"4,keyasint,omitempty"` // refused for good
	Final     bool               `cbor:"5,keyasint,omitempty"` // no result is missing that will ever be
	Summary   message.JobSummary `cbor:"6,keyasint"`           // the leader's last
	// Have and Failed are of a final job what submitted has under these names,
	// so that its results need not be read again at every start.
	Have   []message.Range `cbor:"7,keyasint,omitempty"`
	Failed uint64          `cbor:"8,keyasint,omitempty"`
	// Delivery counts how often results were lost here that the submitter had said it holds.
	Delivery uint64 `cbor:"9,keyasint,omitempty"`
	// Settled is set of a job that was over once, with all checked that was to be: its results
	// were delivered as they were then.
	Settled bool `cbor:"10,keyasint,omitempty"`
	// Lent is the latest delivery of which another cell was told.
	Lent uint64 `cbor:"11,keyasint,omitempty"`
	// Reused says, of a final job, which results of others it took.
	Reused []message.Taken `cbor:"13,keyasint,omitempty"`
	// Ending is the owner's wish that no more of the job begins, and that it ends when what runs has.
	Ending bool `cbor:"12,keyasint,omitempty"`
	// Removed are the tasks that the owner removed.
	Removed []message.Range `cbor:"15,keyasint,omitempty"`
	// Granted is the number of tasks that the owner allows to run again here beyond the limit: see budget.
	Granted uint64 `cbor:"14,keyasint,omitempty"`
}

// ResultKey returns the durable key of the result of one task. What is kept
// there, once Held names the task and the Step's Persists are carried out, is
// read by DecodeSummary. Keys of a job sort as the indices do.
func ResultKey(id task.JobID, index uint64) string {
	return durable.TaskKey(ResultsPrefix, task.TaskID{Job: id, Index: index})
}

// DecodeSummary reads what is kept under a ResultKey. The signatures in it were
// verified when it was taken in, and are not again.
func DecodeSummary(value []byte) (message.TaskSummary, error) {
	var t message.TaskSummary
	if err := task.Decode(value, &t); err != nil {
		return message.TaskSummary{}, fmt.Errorf("scheduler: result: %w", err)
	}
	return t, nil
}

// persist makes the state of a job durable.
func (s *Submitter) persist(j *submitted) {
	if j.state.Final {
		j.state.Have, j.state.Failed, j.state.Reused = j.have, j.failed, j.reusing.from
	}
	s.save(submitterJob+string(j.id), task.TaskID{Job: j.id}, &j.state)
}

// save makes v durable, which is of a task or of a job. It says so, and reports false, if
// that cannot be: of nothing that was decoded.
func (s *Submitter) save(key string, id task.TaskID, v any) bool {
	value, err := durable.Encode(v)
	if err != nil {
		s.emit(message.Decided{Task: id, Action: "not kept", Reason: task.ClipMessage(err.Error())})
		return false
	}
	s.emit(message.Persist{Key: key, Value: value})
	return true
}
