package api

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"path"
	"strconv"

	"godwit/blocks/seal"
	"godwit/scheduler/message"
	"godwit/task"
)

// archive streams the outputs of a job that this node submitted as a zip file, named as `godwit results` names
// them: NAME of a job of one task, INDEX/NAME of a sweep, STAGE/INDEX/NAME of a job with stages. It has what is
// here when it is asked for.
func (s pages) archive(w http.ResponseWriter, r *http.Request) error {
	id, err := s.jobID(r)
	if err != nil {
		return err
	}
	spec, sealer, err := s.opened(r.Context(), id)
	if err != nil {
		return err
	}
	attach(w, "application/zip", "results-"+shortID(string(id))+".zip")
	z := zip.NewWriter(w)
	if err := s.pack(r.Context(), z, id, spec, sealer); err != nil {
		// The answer has begun: it ends without the list at its end, which every reader notices.
		s.log.Warn("the archive of results is cut short", "job", id, "err", err)
		return nil
	}
	return ignoreGone(z.Close())
}

// pack puts all outputs into an archive.
func (s pages) pack(ctx context.Context, z *zip.Writer, id task.JobID, spec *task.Job, sealer *seal.Sealer) error {
	return s.eachEnded(ctx, id, math.MaxInt, func(t *message.TaskSummary) error {
		return s.packTask(ctx, z, spec, sealer, t)
	})
}

// eachEnded does something with ended tasks of a job that this node submitted, in order, until so many were read, up to
// a page more. It stops at an error, and says at which task.
func (s pages) eachEnded(ctx context.Context, id task.JobID, most int, do func(*message.TaskSummary) error) error {
	for next, read := uint64(0), 0; read < most; {
		ended, err := s.node.Results(ctx, id, next, resultPage)
		if err != nil || len(ended) == 0 {
			return err
		}
		for i := range ended {
			if err := do(&ended[i]); err != nil {
				return fmt.Errorf("task %d: %w", ended[i].Index, err)
			}
		}
		next, read = ended[len(ended)-1].Index+1, read+len(ended)
	}
	return nil
}

func (s pages) packTask(ctx context.Context, z *zip.Writer, spec *task.Job, sealer *seal.Sealer,
	t *message.TaskSummary) error {
	if len(t.Results) == 0 {
		return nil
	}
	for _, o := range t.Results[0].Outputs {
		if err := task.ValidSandboxPath(o.Name); err != nil {
			return fmt.Errorf("an output's name: %w", err)
		}
		content, err := s.openOutput(ctx, o)
		if err != nil {
			if t.Failed { // of a task that failed not all is kept
				continue
			}
			return err
		}
		to, err := z.Create(packedName(spec, t.Index, o.Name))
		if err == nil {
			_, err = io.Copy(to, sealer.Opening(content))
		}
		if err := errors.Join(err, content.Close()); err != nil {
			return fmt.Errorf("output %s: %w", o.Name, err)
		}
	}
	return nil
}

// packedName is where an output of a task is in an archive.
func packedName(spec *task.Job, index uint64, name string) string {
	stage := ""
	if len(spec.Stages) > 0 {
		n, local := spec.StageOf(index)
		stage, index = spec.Stages[n].Name, local
	} else if spec.Tasks() == 1 {
		return name
	}
	return path.Join(stage, strconv.FormatUint(index, 10), name)
}
