package audit

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"godwit/api"
	"godwit/blocks/seal"
	"godwit/credibility"
	"godwit/lab/submission"
	"godwit/node"
	"godwit/scheduler/message"
	"godwit/task"
)

// ErrNoKey is returned for a job whose key is not published yet, or that checks nothing.
var ErrNoKey = errors.New("the key of its draw is published when all is checked of a job with verify that is over")

// A Lot is what the draw says of one result, and what was done.
type Lot struct {
	Task    uint64      `json:"task"`
	Worker  task.PeerID `json:"worker"`  // who signed the result first
	Lot     float64     `json:"lot"`     // 0 to below 1
	Drawn   bool        `json:"drawn"`   // it is below the share of the record
	Audited bool        `json:"audited"` // by the node's word
}

// Missed reports whether the result was drawn and not run again.
func (l *Lot) Missed() bool { return l.Drawn && !l.Audited }

// Lots draws anew which results of a job were to be run again, by the key that its submitter
// published, and the record and the results that are signed: of each that another node signed. share
// is what the record says that is drawn at least; where it bounds wrong results more is, of workers
// of whom less was known. It refuses a key that is not the record's.
func Lots(ctx context.Context, client *api.Client, ref string) (lots []Lot, share float64, err error) {
	st, audited, err := auditedOf(ctx, client, ref)
	if err != nil {
		return nil, 0, err
	}
	if st.Checks == nil || st.Checks.Key == "" {
		return nil, 0, ErrNoKey
	}
	key, err := hex.DecodeString(st.Checks.Key)
	if err != nil {
		return nil, 0, fmt.Errorf("the key of the draw: %w", err)
	}
	err = submission.EachTask(ctx, client, ref, func(s *task.Job, _ *seal.Sealer, t message.TaskSummary) error {
		if err := s.Verify.CheckDraw(key); err != nil {
			return err
		}
		share = s.Verify.Share()
		signed := &task.Result{}
		if w := t.Refuted; w != nil {
			signed = &w.Result
		} else if len(t.Results) > 0 {
			r := t.AsSigned(0)
			signed = &r
		}
		if signed.Worker == "" || signed.Worker == st.Submitter {
			return nil
		}
		if err := signed.Verify(); err != nil {
			return err
		}
		l := Lot{Task: t.Index, Worker: signed.Worker, Audited: audited[t.Index],
			Lot: credibility.Lot([32]byte(key), t.Index, signed.Digest())}
		l.Drawn = len(credibility.Draw([32]byte(key), t.Index, signed.Digest(),
			max(1, signed.Trail.Parts(s.Spacing())), share)) > 0
		lots = append(lots, l)
		return nil
	})
	return lots, share, err
}

// auditedOf brings a job, and which of its tasks were run again.
func auditedOf(ctx context.Context, client *api.Client, ref string) (message.JobStatus, map[uint64]bool, error) {
	audited := map[uint64]bool{}
	st, err := client.JobTasks(ctx, ref, 0, node.MaxTaskList)
	for page := st.TasksList; err == nil && len(page) > 0; {
		for i := range page {
			audited[page[i].Index] = page[i].Audited
		}
		if len(page) < node.MaxTaskList {
			break
		}
		var more message.JobStatus
		more, err = client.JobTasks(ctx, ref, page[len(page)-1].Index+1, node.MaxTaskList)
		page = more.TasksList
	}
	return st, audited, err
}
