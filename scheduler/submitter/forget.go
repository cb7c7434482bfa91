package submitter

import (
	"strings"
	"time"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

const (
	// forgetPortion is how many results are deleted in one Step, so that a
	// sweep of a million goes in a minute and a half and holds nobody up.
	forgetPortion = 256
	// rememberForgotten is how long it is known of a job that it was forgotten.
	// A coordinator that comes back within it with an old copy of the ledger is
	// told that the job is over, and does not run it again for nobody.
	rememberForgotten = 7 * 24 * time.Hour
)

// forgottenState is the durable form of a forgottenJob. While Left is not
// empty, some of its results may be on disk.
type forgottenState struct {
	Until int64           `cbor:"1,keyasint"` // Unix seconds
	Left  []message.Range `cbor:"2,keyasint,omitempty"`
	// Checked is set of a job whose results were checked.
	Checked bool `cbor:"3,keyasint,omitempty"`
	// Others is set of a job whose tasks others ran again.
	Others bool `cbor:"4,keyasint,omitempty"`
}

// forget drops a job that is over. From this Step on it is not there any more;
// its results are deleted in portions.
func (s *Submitter) forget(id task.JobID) {
	j := s.jobs[id]
	if j == nil || !j.state.Final {
		return
	}
	delete(s.jobs, id)
	s.unlink(j)
	s.audits.leave(id)
	f := &forgottenJob{left: j.have, until: s.now.Add(rememberForgotten), checked: j.checks != nil,
		others: j.checks != nil && j.checks.others}
	s.forgotten[id] = f
	s.persistForgotten(id, f)
	s.emit(message.Persist{Key: submitterJob + string(id)})
	s.emit(message.JobChanged{Job: id})
	s.timers.Set(s.now, submitterForgotten+string(id))
}

func (s *Submitter) persistForgotten(id task.JobID, f *forgottenJob) {
	s.save(submitterForgotten+string(id), task.TaskID{Job: id},
		&forgottenState{f.until.Unix(), f.left, f.checked, f.others})
}

func (s *Submitter) restoreForgotten(key string, value []byte) error {
	var st forgottenState
	if err := task.Decode(value, &st); err != nil {
		return err
	}
	left, err := ledger.MakeSet(st.Left)
	s.forgotten[task.JobID(strings.TrimPrefix(key, submitterForgotten))] = &forgottenJob{left: left,
		until: time.Unix(st.Until, 0), checked: st.Checked, others: st.Others}
	s.timers.Set(time.Time{}, key)
	return err
}

func forgottenID(key string) (task.JobID, bool) {
	id, ok := strings.CutPrefix(key, submitterForgotten)
	return task.JobID(id), ok
}

// forgetMore deletes the next results of a forgotten job, and in the end that
// it was forgotten.
func (s *Submitter) forgetMore(id task.JobID) {
	f, key := s.forgotten[id], submitterForgotten+string(id)
	switch {
	case f == nil:
	case len(f.left) > 0:
		for n := 0; n < forgetPortion && len(f.left) > 0; n++ {
			r := &f.left[0]
			s.emit(message.Persist{Key: ResultKey(id, r.From)})
			if f.checked {
				s.emit(message.Persist{Key: checkKey(task.TaskID{Job: id, Index: r.From})})
			}
			if f.others {
				s.audits.abroad.drop(task.TaskID{Job: id, Index: r.From})
			}
			if r.From++; r.From == r.To {
				f.left = f.left[1:]
			}
		}
		if len(f.left) == 0 {
			f.left = nil
			s.persistForgotten(id, f)
		}
		s.timers.Set(s.now.Add(paceEvery), key)
	case s.now.Before(f.until):
		s.timers.Set(f.until, key)
	default:
		delete(s.forgotten, id)
		s.emit(message.Persist{Key: key})
	}
}
