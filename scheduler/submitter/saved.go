package submitter

import (
	"errors"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"godwit/scheduler/durable"
	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

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
		if len(j.state.Have) == 0 {
			for key, value := range scan(ResultsPrefix + string(id) + "/") {
				errs.Note(key, j.restoreResult(key, value))
			}
		}
		j.restoreChecks(scan, &errs)
		s.restoreLoans(j, scan, &errs)
	}
	s.audits.restore(scan, &errs)
	s.audits.accused.restore(scan, &errs)
	s.audits.heard.restore(scan, &errs)
	if _, due := s.audits.next(); due || s.audits.unread() || (readings{&s.audits}).mustLook() {
		s.timers.Set(time.Time{}, auditTimer)
	}
	return errs.Join()
}

func (s *Submitter) restoreJob(key string, value []byte) error {
	var st submittedState
	if err := task.Decode(value, &st); err != nil {
		return err
	}
	spec, err := s.cfg.Opened.Open(&st.Record)
	if err != nil {
		return err
	}
	id := task.JobID(strings.TrimPrefix(key, submitterJob))
	if named, _ := s.cfg.Opened.Names(&st.Record); named != id {
		return errors.New("the record is another job's")
	}
	have, err := ledger.MakeSet(st.Have)
	if err != nil || len(have) > 0 && have[len(have)-1].To > spec.Tasks() ||
		len(spec.Stages) > 0 && st.Failed > 0 { // which of them failed is to be known by stage
		st.Have, have = nil, nil // the results themselves tell
	}
	j := s.add(id, spec, st)
	j.have, j.failed = have, min(st.Failed, have.Count())
	if removed, err := ledger.MakeSet(st.Removed); err == nil {
		j.removed = removed
	}
	if len(have) > 0 { // else the results tell, which are read
		j.reusing.from = st.Reused
		j.staged.allDone(have)
	}
	return err
}

func (j *submitted) restoreResult(key string, value []byte) error {
	// What is not looked at is checked to be well formed, and takes no time.
	var t struct {
		Index  uint64 `cbor:"1,keyasint"`
		Failed bool   `cbor:"2,keyasint,omitempty"`
		From   *struct {
			Job task.JobID `cbor:"1,keyasint"`
		} `cbor:"7,keyasint,omitempty"`
	}
	if err := task.Decode(value, &t); err != nil {
		return err
	}
	if t.Index >= j.total || ResultKey(j.id, t.Index) != key {
		return errors.New("it is another task's")
	}
	j.keep(t.Index, t.Failed)
	if t.From != nil {
		j.reusing.took(t.From.Job)
	}
	return nil
}

// Roots lists the blocks that jobs here need: of every job that is not over, or has results to
// check, the record, the module and the inputs, and the outputs of results that are on
// their way. The outputs of results held are not in memory: the driver reads
// them from the pairs under ResultsPrefix with OutputsOf. Sorted, each once.
func (s *Submitter) Roots() []task.CID {
	var roots durable.RootSet
	for id, j := range s.jobs {
		if !j.state.Final || j.checks.left() > 0 || j.showsWrong() || s.audits.heard.showsOf(id) {
			roots.Add(durable.JobBlocks(id, j.spec)...)
		}
	}
	for _, at := range s.audits.at {
		if at.state != "" {
			roots.Add(at.state)
		}
	}
	for _, f := range s.fetches {
		roots.Add(message.OutputsOf(&f.summary)...)
	}
	return roots.Sorted()
}
