package submitter

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"godwit/scheduler/durable"
	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// Prefixes of the Submitter's durable keys.
const (
	submitterPrefix    = "s/"
	submitterJob       = submitterPrefix + "j/"
	submitterForgotten = submitterPrefix + "f/"

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

// Restore takes in what was persisted, before the first Step. scan gives the
// pairs whose keys begin with a prefix, which ends in "/", in any order; it is
// called for a few prefixes, one after the other, and no value is kept. What
// cannot be read is left out and told in the error; the rest is good. A result
// that cannot be read is asked for again.
func (s *Submitter) Restore(scan func(prefix string) iter.Seq2[string, []byte]) error {
	var errs durable.Errors
	for key, value := range scan(submitterForgotten) {
		errs.Note(key, s.restoreForgotten(key, value))
	}
	for key, value := range scan(submitterJob) {
		errs.Note(key, s.restoreJob(key, value))
	}
	for _, id := range slices.Sorted(maps.Keys(s.jobs)) {
		j := s.jobs[id]
		if len(j.state.Have) > 0 {
			continue
		}
		for key, value := range scan(ResultsPrefix + string(id) + "/") {
			errs.Note(key, j.restoreResult(key, value))
		}
	}
	return errs.Join()
}

func (s *Submitter) restoreJob(key string, value []byte) error {
	var st submittedState
	if err := task.Decode(value, &st); err != nil {
		return err
	}
	spec, err := st.Record.Open()
	if err != nil {
		return err
	}
	id := task.JobID(strings.TrimPrefix(key, submitterJob))
	if st.Record.ID() != id {
		return errors.New("the record is another job's")
	}
	have, err := ledger.MakeSet(st.Have)
	if err != nil || len(have) > 0 && have[len(have)-1].To > spec.Sweep.Count() {
		st.Have, have = nil, nil // the results themselves tell
	}
	j := s.add(id, spec, st)
	j.have, j.failed = have, min(st.Failed, have.Count())
	return err
}

func (j *submitted) restoreResult(key string, value []byte) error {
	// What is not looked at is checked to be well formed, and takes no time.
	var t struct {
		Index  uint64 `cbor:"1,keyasint"`
		Failed bool   `cbor:"2,keyasint,omitempty"`
	}
	if err := task.Decode(value, &t); err != nil {
		return err
	}
	if t.Index >= j.total || ResultKey(j.id, t.Index) != key {
		return errors.New("it is another task's")
	}
	j.keep(t.Index, t.Failed)
	return nil
}

// persist makes the state of a job durable.
func (s *Submitter) persist(j *submitted) {
	if j.state.Final {
		j.state.Have, j.state.Failed = j.have, j.failed
	}
	s.emit(message.Persist{Key: submitterJob + string(j.id), Value: durable.Encode(&j.state)})
}

// Roots lists the blocks that jobs here need: of every job that is not over the
// record, the module and the inputs, and the outputs of results that are on
// their way. The outputs of results held are not in memory: the driver reads
// them from the pairs under ResultsPrefix with OutputsOf. Sorted, each once.
func (s *Submitter) Roots() []task.CID {
	var roots durable.RootSet
	for id, j := range s.jobs {
		if !j.state.Final {
			roots.Add(durable.JobBlocks(id, j.spec)...)
		}
	}
	for _, f := range s.fetches {
		roots.Add(message.OutputsOf(&f.summary)...)
	}
	return roots.Sorted()
}
