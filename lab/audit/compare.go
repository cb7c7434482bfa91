package audit

import (
	"fmt"

	"godwit/blocks"
	"godwit/sandbox"
	"godwit/task"
)

// result makes a result of a report: what Result.Digest stands for.
func (s *staged) result(rep *sandbox.Report) (*task.Result, error) {
	r := &task.Result{Outcome: rep.Outcome, ExitCode: rep.ExitCode, Message: rep.Message, CPU: rep.CPU,
		Trail: rep.SignedTrail()}
	for _, f := range rep.Outputs {
		data := s.sealer.SealFile(f.Data)
		c, err := blocks.CIDOfBytes(data)
		if err != nil {
			return nil, err
		}
		r.Outputs = append(r.Outputs, task.Output{Name: f.Name, CID: c, Size: int64(len(data))})
	}
	return r, nil
}

// difference says where what came out parts from what was signed: the first difference, and
// how many outputs differ; or, of the same outputs, how their trails part. It is "" where nothing
// does. Sizes are those of the content, sealed or not.
func (s *staged) difference(signed, here *task.Result) string {
	if signed.Outcome != here.Outcome {
		return fmt.Sprintf("it ended as %v here, as %v by the result", here.Outcome, signed.Outcome)
	}
	if signed.ExitCode != here.ExitCode {
		return fmt.Sprintf("it ended with exit code %d here, with %d by the result", here.ExitCode, signed.ExitCode)
	}
	theirs := map[string]*task.Output{}
	for i := range signed.Outputs {
		theirs[signed.Outputs[i].Name] = &signed.Outputs[i]
	}
	first, n := "", 0
	note := func(format string, args ...any) {
		if n++; first == "" {
			first = fmt.Sprintf(format, args...)
		}
	}
	for i := range here.Outputs {
		o := &here.Outputs[i]
		their := theirs[o.Name]
		delete(theirs, o.Name)
		switch {
		case their == nil:
			note("%s is not among the result's outputs", o.Name)
		case their.Size != o.Size:
			note("%s has %d bytes here, %d by the result", o.Name, s.plain(o.Size), s.plain(their.Size))
		case their.CID != o.CID:
			note("%s has other bytes here", o.Name)
		}
	}
	for i := range signed.Outputs { // in order
		if name := signed.Outputs[i].Name; theirs[name] != nil {
			note("%s is not written here", name)
		}
	}
	switch n {
	case 0:
		return signed.Trail.Difference(here.Trail)
	case 1:
		return first
	}
	return fmt.Sprintf("%s, and %d outputs more differ", first, n-1)
}

// plain is the size of content that is stored with so many bytes. No worker that seals stores a
// size that no content has; such a one is told as it is.
func (s *staged) plain(stored int64) int64 {
	if n, err := s.sealer.Plain(stored); err == nil {
		return n
	}
	return stored
}
