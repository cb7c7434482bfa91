package exec

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"godwit/blocks"
	"godwit/sandbox"
	"godwit/scheduler/message"
	"godwit/task"
)

// jobs are those that are ready to run here.
type jobs struct {
	*core
	ready map[task.JobID]*Job
}

func newJobs(c *core) jobs { return jobs{c, map[task.JobID]*Job{}} }

// get returns a job that is ready, or nil.
func (s *jobs) get(id task.JobID) *Job { return s.ready[id] }

// prepare answers a Prepare.
func (s *jobs) prepare(of Client, e message.Prepare) {
	job, err := s.bring(s.ctx, e.Job, e.Holders)
	s.Host.Post(func() {
		answer := message.Prepared{ID: e.Job}
		if err != nil {
			answer.Err = err.Error()
			s.Log.Warn("job could not be prepared", "job", e.Job, "err", err)
		} else {
			s.ready[e.Job] = job
			answer.Job = job.spec
		}
		of.Report(answer)
	})
}

// bring fetches a job's record, module and inputs and stages them as files, from any
// goroutine. Who was named for the state of one of its tasks alone is not asked for those.
func (s *jobs) bring(ctx context.Context, id task.JobID, holders []task.PeerID) (*Job, error) {
	holders = sure(holders)
	spec, err := s.Content.Record(ctx, id, holders)
	if err != nil {
		return nil, err
	}
	job := &Job{spec: spec, inputs: map[task.CID]string{}}
	if !s.Runner.ReadsFiles() {
		return job, nil
	}
	if err := s.Content.Fetch(ctx, JobRoots(spec), holders); err != nil {
		return nil, err
	}
	if job.module, err = s.stage(ctx, moduleOf(spec)); err != nil {
		return nil, err
	}
	for _, in := range spec.Inputs {
		if job.inputs[in.CID], err = s.stage(ctx, inputRoot(&in)); err != nil {
			return nil, err
		}
	}
	return job, nil
}

// JobContent lists what a job's tasks read.
func JobContent(j *task.Job) []task.CID {
	cids := []task.CID{j.Module}
	for _, in := range j.Inputs {
		cids = append(cids, in.CID)
	}
	return cids
}

// JobRoots lists what a job's tasks read, each with the size that it must have.
func JobRoots(j *task.Job) []blocks.Root {
	roots := []blocks.Root{moduleOf(j)}
	for i := range j.Inputs {
		roots = append(roots, inputRoot(&j.Inputs[i]))
	}
	return roots
}

func moduleOf(j *task.Job) blocks.Root {
	return blocks.Root{CID: j.Module, Bound: blocks.AtMost(sandbox.MaxModule)}
}

func inputRoot(f *task.FileRef) blocks.Root {
	return blocks.Root{CID: f.CID, Bound: blocks.Exactly(f.Size)}
}

func (s *jobs) path(c task.CID) string { return filepath.Join(s.StageDir, string(c)) }

// stage writes content to a file that sandboxes read, unless it is there. The
// file appears whole or not at all.
func (s *jobs) stage(ctx context.Context, root blocks.Root) (path string, err error) {
	c := root.CID
	path = s.path(c)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	r, _, err := s.Content.Blocks().Open(ctx, c, root.Bound)
	if err != nil {
		return "", fmt.Errorf("staging %s: %w", c, err)
	}
	defer r.Close()
	f, err := os.CreateTemp(s.StageDir, "new-*")
	if err != nil {
		return "", fmt.Errorf("staging %s: %w", c, err)
	}
	_, err = io.Copy(f, r)
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
		return "", fmt.Errorf("staging %s: %w", c, err)
	}
	return path, nil
}

// release forgets a job and its staged files, but those that another job reads.
func (s *jobs) release(id task.JobID) {
	gone, ok := s.ready[id]
	if !ok {
		return
	}
	delete(s.ready, id)
	used := map[task.CID]bool{}
	for _, j := range s.ready {
		for _, c := range JobContent(j.spec) {
			used[c] = true
		}
	}
	for _, c := range JobContent(gone.spec) {
		if !used[c] {
			os.Remove(s.path(c))
		}
	}
}

// roots lists the jobs that are ready and what their tasks read.
func (s *jobs) roots() []task.CID {
	var out []task.CID
	for id, j := range s.ready {
		out = append(append(out, task.CID(id)), JobContent(j.spec)...)
	}
	return out
}
