package node

import (
	"context"
	"errors"
	"fmt"
	"io"

	"godwit/blocks/seal"
	"godwit/node/exec"
	"godwit/scheduler/message"
	"godwit/task"
	"godwit/task/table"
)

// ErrNoneFailed is returned for running the failed tasks again of a job that has none.
var ErrNoneFailed = errors.New("node: no task of the job failed")

// RunFailed hands in a job of the tasks that failed of one that this node submitted and that is over, or that
// never ran since it was cancelled. They run with what they ran with, and with another module where one is
// given. Of a job with stages it hands in the whole, which takes the results that there are; the module is that
// of the stage, or where that is "" of the only one of which tasks failed. It returns as Submit does.
func (ss *submissions) RunFailed(ctx context.Context, id task.JobID, module task.CID, stage string) (
	task.JobID, error) {
	rec, spec, err := ss.queries.Submitted(ctx, id)
	if err != nil {
		return "", err
	}
	if len(spec.Stages) > 0 {
		return ss.stagesAgain(ctx, id, rec.Key, spec, module, stage)
	}
	if stage != "" {
		return "", fmt.Errorf("%w %q: the job has no stages", ErrNoStage, stage)
	}
	again := spec.RunAgain()
	s := Submission{Module: spec.Module, Inputs: map[string]task.FileRef{}, Overlay: spec.Overlay, sealedBy: rec.Key}
	if module != "" {
		s.Module = module
	}
	for _, in := range spec.Inputs {
		s.Inputs[in.Name] = in
	}
	if s.File, err = again.File(); err != nil {
		return "", fmt.Errorf("making the job anew: %w", err)
	}
	made, err := ss.againTable(ctx, id, rec.Key, spec, again)
	if err != nil {
		return "", err
	}
	if err := s.File.SetTable(task.AgainAxis, made); err != nil {
		return "", fmt.Errorf("making the job anew: %w", err)
	}
	return ss.Submit(ctx, s)
}

// againTable stores the table of the tasks that are to run again.
func (ss *submissions) againTable(ctx context.Context, id task.JobID, key []byte, spec *task.Job, again *task.Again) (
	task.Table, error) {
	sealer, err := seal.New(key)
	if err != nil {
		return task.Table{}, fmt.Errorf("%w: %w", task.ErrKey, err)
	}
	from, to := io.Pipe()
	w := table.NewWriter(to, again.Columns())
	var made task.Table
	rows := exec.Rows(ctx, ss.content, spec, sealer)
	done := make(chan error, 1)
	go func() {
		err := ss.eachFailed(ctx, id, spec.Sweep.Count(), func(index uint64, _ *message.TaskSummary) error {
			row, err := again.Row(index, rows)
			if err == nil {
				err = w.Add(row...)
			}
			return err
		})
		if err == nil && w.Rows() == 0 {
			err = fmt.Errorf("%w: %s", ErrNoneFailed, id)
		}
		if err == nil {
			made, err = w.Close()
		}
		to.CloseWithError(err)
		done <- err
	}()
	cid, size, err := ss.content.blocks.Import(ctx, sealer.Sealing(from))
	from.CloseWithError(err)
	if e := <-done; e != nil {
		return task.Table{}, e
	}
	made.CID, made.Size = cid, size
	return made, err
}

// eachFailed calls f for each task that has no result that is good, in order, with its end; nil of one that
// never ran.
func (ss *submissions) eachFailed(ctx context.Context, id task.JobID, total uint64,
	f func(index uint64, end *message.TaskSummary) error) error {
	next := uint64(0)
	for {
		h, err := ss.queries.heldBy(ctx, id, from(next, heldPage))
		switch {
		case err != nil:
			return err
		case !h.mine:
			return fmt.Errorf("%w among those this node submitted: %s", ErrUnknownJob, id)
		case !h.status.Final:
			return fmt.Errorf("%w: %s", ErrRunning, id)
		}
		page := append(h.results, message.TaskSummary{Index: total})
		if len(h.results) == heldPage {
			page = h.results
		}
		for i := range page {
			t := &page[i]
			for ; next < t.Index; next++ { // never ran
				if err := f(next, nil); err != nil {
					return err
				}
			}
			if next == total {
				return nil
			}
			if next++; t.Failed {
				if err := f(t.Index, t); err != nil {
					return err
				}
			}
		}
	}
}

// heldPage is how many results are read at once.
const heldPage = 200
