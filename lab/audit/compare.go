package audit

import (
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

// difference says where what came out parts from what was signed, "" where nothing does. Sizes are
// those of the content, sealed or not.
func (s *staged) difference(signed, here *task.Result) string {
	return signed.Difference(here, s.plain)
}

// plain is the size of content that is stored with so many bytes. No worker that seals stores a
// size that no content has; such a one is told as it is.
func (s *staged) plain(stored int64) int64 {
	if n, err := s.sealer.Plain(stored); err == nil {
		return n
	}
	return stored
}
