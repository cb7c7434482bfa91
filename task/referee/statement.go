package referee

import (
	"errors"
	"fmt"

	"godwit/task"
)

// MaxStatement bounds an encoded Statement, in bytes: a job with many arguments, and a result with
// many outputs. Larger ones go as files.
const MaxStatement = 64 << 10

// A Statement is what was signed of a result that is said to be wrong: with the job's program and
// inputs, which the record names, anybody can see whether it is.
type Statement struct {
	Record task.Record `cbor:"1,keyasint"` // without the key of a sealed job: who is told has it
	Result task.Result `cbor:"2,keyasint"`
	// Part is what of its run is wrong, where that is known; nil where the whole task has to be run.
	Part *task.PartProof `cbor:"3,keyasint,omitempty"`
	// Chain are states of a run that has no result, as they were vouched for, of which the first is said to be wrong
	// by the one before it; or Part is wrong of leg 1, which ended with it. Then Result has the task alone.
	Chain []task.Link `cbor:"4,keyasint,omitempty" most:"64"`
}

// Claim returns what is said to be wrong, of a statement that opens, and which part of it; nil for all. Of a run that
// has no result it is as if that had ended in the state.
func (s *Statement) Claim() (*task.Result, *task.PartProof) {
	if len(s.Chain) == 0 {
		return &s.Result, s.Part
	}
	last := &s.Chain[0]
	v := &last.Voucher
	t := &task.Trail{Pass: v.Pass, Fuel: last.Fuel, Engine: v.Engine, Began: s.Chain}
	part := s.Part
	if part == nil {
		part = t.ProveLink(0)
	}
	return &task.Result{Task: s.Result.Task, Worker: v.Worker, Outcome: task.Completed, Trail: t}, part
}

// Encode returns the statement's canonical CBOR, at most MaxStatement bytes.
func (s *Statement) Encode() ([]byte, error) {
	b, err := task.Encode(s)
	if err == nil && len(b) > MaxStatement {
		err = fmt.Errorf("a statement of %d bytes, the most is %d", len(b), MaxStatement)
	}
	return b, err
}

// Decode reads what Encode wrote. It checks the shape alone: see Open.
func Decode(b []byte) (Statement, error) {
	var s Statement
	if len(b) > MaxStatement {
		return s, fmt.Errorf("a statement of %d bytes, the most is %d", len(b), MaxStatement)
	}
	err := task.Decode(b, &s)
	return s, err
}

// Open checks all signatures, and returns the job, which may be sealed. What it does not check is whether the result is
// wrong.
func (s *Statement) Open() (*task.Job, error) {
	spec, err := s.Record.Open()
	switch {
	case err != nil:
		return nil, err
	case len(s.Record.Key) > 0:
		return nil, errors.New("it has the job's key: that is told to nobody")
	case s.Result.Task.Job != s.Record.ID():
		return nil, errors.New("the result is of another job")
	case s.Result.Task.Index >= spec.Tasks():
		return nil, fmt.Errorf("the job has no task %d", s.Result.Task.Index)
	case len(s.Chain) > 0:
		return spec, s.openChain(spec)
	case !s.Result.Outcome.Reproducible():
		return nil, fmt.Errorf("what was signed, %v, depends on the machine", s.Result.Outcome)
	}
	if err := s.Result.Verify(); err != nil {
		return spec, err
	}
	if s.Part != nil {
		_, err = s.Result.Segment(s.Part, spec.Spacing())
	}
	return spec, err
}

// openChain checks a statement about a state.
func (s *Statement) openChain(spec *task.Job) error {
	if s.Result.Worker != "" || len(s.Result.Signature) > 0 || s.Part != nil && s.Part.Leg != 1 {
		return errors.New("it is about a state, and about a result")
	}
	if err := task.VerifyChain(s.Result.Task, s.Chain); err != nil {
		return err
	}
	r, part := s.Claim()
	_, err := r.Segment(part, spec.Spacing())
	return err
}

// By is who is said to be wrong, of a statement that opens as a job with that spacing: who signed the
// result, or answers for the part.
func (s *Statement) By(spacing uint64) task.PeerID {
	r, part := s.Claim()
	if part != nil {
		if of, err := r.Segment(part, spacing); err == nil {
			return of.By
		}
	}
	return r.Worker
}
