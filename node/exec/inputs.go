package exec

import (
	"context"
	"fmt"

	"godwit/blocks"
	"godwit/task"
)

// A job is ready when its module and the inputs that all its tasks read are here. What a task reads
// beside them comes with the task, and lies here afterwards for others that read it, as long as
// there is room.

// ownInputs are those that one attempt reads.
type ownInputs struct {
	paths   map[task.CID]string
	release func() // of the files and of the blocks; never nil
}

// Input is the path of the file that has an input's content, by its CID; "" where there is none.
func (r *Run) Input(c task.CID) string {
	if path, common := r.Job.inputs[c]; common {
		return path
	}
	return r.own[c]
}

// bringOwn brings the inputs of an attempt here that are its own, and stages them. The holders are
// asked that its lease names, or else those of the job.
func (s *staging) bringOwn(
	ctx context.Context, job *Job, reads []task.FileRef, holders []task.PeerID,
) (ownInputs, error) {
	var roots []blocks.Root
	var cids []task.CID
	own := ownInputs{paths: map[task.CID]string{}, release: func() {}}
	for i := range reads {
		in := &reads[i]
		if _, common := job.inputs[in.CID]; common {
			continue
		}
		if _, twice := own.paths[in.CID]; !twice {
			own.paths[in.CID] = ""
			roots, cids = append(roots, inputRoot(in)), append(cids, in.CID)
		}
	}
	if len(roots) == 0 || !s.Runner.ReadsFiles() {
		return own, nil
	}
	if len(holders) == 0 {
		holders = job.holders
	}
	held, taken := s.Content.Hold(cids), []stagedName(nil)
	own.release = func() {
		for _, n := range taken {
			s.rest(n)
			if job.isOver() {
				s.forget(n)
			}
		}
		held()
	}
	var err error
	if lacking := s.lacking(job, roots); len(lacking) > 0 {
		err = s.fetchFor(ctx, job, lacking, lacking, sure(holders))
	}
	for _, r := range roots {
		if err != nil {
			break
		}
		n := job.input(r.CID)
		if own.paths[r.CID], err = s.take(ctx, n, r.Bound, job.sealer); err == nil {
			taken = append(taken, n)
			job.keeps(n)
		}
	}
	if err != nil {
		own.release()
		s.Content.Failed(err)
		return ownInputs{}, fmt.Errorf("bringing the task's inputs: %w", err)
	}
	return own, nil
}

// lacking lists those files of a job that are not staged.
func (s *staging) lacking(job *Job, roots []blocks.Root) []blocks.Root {
	var out []blocks.Root
	for _, r := range roots {
		if !s.has(job.input(r.CID)) {
			out = append(out, r)
		}
	}
	return out
}

// fetchFor brings files of a job here, once there is room for them, and for those of staged once
// more as staged files.
func (s *staging) fetchFor(ctx context.Context, job *Job, roots, staged []blocks.Root, holders []task.PeerID) error {
	var need int64
	for _, r := range staged {
		here, err := s.Content.Blocks().HasAll(ctx, r.CID)
		if err != nil {
			return err
		}
		if !here {
			need += r.Bound.Most()
		}
		if !s.has(job.input(r.CID)) {
			need += r.Bound.Most()
		}
	}
	err := s.Content.MakeRoom(ctx, need, false)
	if err != nil && s.clear() {
		err = s.Content.MakeRoom(ctx, need, false)
	}
	if err != nil {
		return err
	}
	return s.Content.Fetch(ctx, roots, holders)
}

// keeps notes a file that lies here for the job's tasks.
func (j *Job) keeps(n stagedName) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.own == nil {
		j.own = map[stagedName]bool{}
	}
	j.own[n] = true
}

// forgetOwn removes what lies here for tasks of a job that is no longer ready.
func (s *staging) forgetOwn(j *Job) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.over = true
	for n := range j.own {
		s.forget(n)
	}
	j.own = nil
}

// isOver reports whether the job is no longer ready.
func (j *Job) isOver() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.over
}
