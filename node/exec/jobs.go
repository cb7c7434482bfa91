package exec

import (
	"context"
	"encoding/hex"
	"slices"

	"godwit/blocks"
	"godwit/blocks/seal"
	"godwit/overlay"
	"godwit/sandbox"
	"godwit/scheduler/message"
	"godwit/task"
)

// jobs are those that are ready to run here, and those that are made ready. They are on
// the loop, but for what says otherwise.
type jobs struct {
	*core
	files  *staging
	ready  map[task.JobID]*Job
	coming map[comingJob]*preparation
}

// A comingJob is one that is made ready for a client.
type comingJob struct {
	of Client
	id task.JobID
}

type preparation struct{ end context.CancelFunc }

func newJobs(c *core) jobs {
	c.staging = newStaging(c)
	return jobs{core: c, files: c.staging, ready: map[task.JobID]*Job{}, coming: map[comingJob]*preparation{}}
}

// get returns a job that is ready, or nil.
func (s *jobs) get(id task.JobID) *Job { return s.ready[id] }

// prepare begins what answers a Prepare, unless a Release ends it.
func (s *jobs) prepare(of Client, e message.Prepare) {
	ctx, end := context.WithCancel(s.ctx)
	name, p := comingJob{of, e.Job}, &preparation{end}
	s.coming[name] = p
	s.spawn(func() {
		job, err := s.bring(ctx, of.Overlay(), e)
		end()
		s.Host.Post(func() {
			if s.coming[name] != p {
				s.discard(job)
				return
			}
			delete(s.coming, name)
			s.prepared(of, e.Job, job, err)
		})
	})
}

// prepared tells a client what came of its Prepare.
func (s *jobs) prepared(of Client, id task.JobID, job *Job, err error) {
	answer := message.Prepared{ID: id}
	if err != nil {
		answer.Err = err.Error()
		s.Log.Warn("job could not be prepared", "job", id, "err", err)
	} else {
		s.discard(s.ready[id]) // of a client before
		s.ready[id] = job
		answer.Job, answer.Submitter = job.spec, job.submitter
	}
	of.Report(answer)
}

// bring fetches a job's record, module and the inputs that all its tasks read, and stages them as
// files, from any goroutine. Who was named for the state of one of its tasks alone is not asked for those.
func (s *jobs) bring(ctx context.Context, of overlay.ID, e message.Prepare) (*Job, error) {
	spec, submitter, err := s.open(ctx, e)
	if err != nil {
		return nil, err
	}
	return s.make(ctx, spec, of, submitter, e)
}

// open fetches a job's record.
func (s *jobs) open(ctx context.Context, e message.Prepare) (*task.Job, task.PeerID, error) {
	spec, submitter, err := s.Content.Record(ctx, e.Job, sure(e.Holders))
	if err != nil {
		return nil, "", err
	}
	return spec, submitter, spec.CheckKey(e.Key)
}

// make fetches and stages the modules and common inputs of an overlay's job whose record is here.
func (s *jobs) make(ctx context.Context, spec *task.Job, of overlay.ID, submitter task.PeerID, e message.Prepare) (
	job *Job, err error) {
	job = &Job{spec: spec, overlay: of, submitter: submitter, files: s.files, holders: slices.Clone(e.Holders),
		module: map[task.CID]string{}, inputs: map[task.CID]string{}}
	if job.sealer, err = seal.New(e.Key); err != nil {
		return nil, err
	}
	job.rows = newRows(s.Content, spec, job.sealer, e.Holders)
	if !s.Runner.ReadsFiles() {
		return job, nil
	}
	common, err := spec.CommonInputs()
	if err != nil {
		return nil, err
	}
	roots := modulesOf(spec)
	modules := len(roots)
	for i := range common {
		roots = append(roots, inputRoot(&common[i]))
	}
	// Nobody says how large a module is.
	if err := s.files.fetchFor(ctx, job, roots, roots[modules:], sure(e.Holders)); err != nil {
		return nil, err
	}
	if err := s.stage(ctx, job, common); err != nil {
		s.discard(job)
		s.Content.Failed(err)
		return nil, err
	}
	return job, nil
}

// stage takes the files of a job that all its tasks read.
func (s *jobs) stage(ctx context.Context, job *Job, common []task.FileRef) (err error) {
	take := func(name stagedName, bound blocks.Bound, sealer *seal.Sealer) (path string) {
		if err != nil {
			return ""
		}
		if path, err = s.files.take(ctx, name, bound, sealer); err == nil {
			job.staged = append(job.staged, name)
		}
		return path
	}
	for _, m := range modulesOf(job.spec) {
		job.module[m.CID] = take(stagedName{CID: m.CID}, m.Bound, nil)
	}
	for i := range common {
		in := &common[i]
		job.inputs[in.CID] = take(job.input(in.CID), inputRoot(in).Bound, job.sealer)
	}
	return err
}

// input names an input as it is staged: opened with the job's key, so that no job with another
// finds it there.
func (j *Job) input(c task.CID) stagedName {
	return stagedName{CID: c, Sealed: hex.EncodeToString(j.spec.Sealed)}
}

// tenant returns whose data the job's tasks handle, for the sandbox.
func (j *Job) tenant() sandbox.Tenant {
	return sandbox.Tenant{Submitter: j.submitter, Overlay: string(j.overlay), Sealed: string(j.spec.Sealed)}
}

// discard gives up the files of a job, from any goroutine; nil has none.
func (s *jobs) discard(job *Job) {
	if job == nil {
		return
	}
	for _, name := range job.staged {
		s.files.drop(name)
	}
	s.files.forgetOwn(job)
}

// JobContent lists what a job's tasks read.
func JobContent(j *task.Job) []task.CID {
	cids := j.Modules()
	for _, in := range j.Inputs {
		cids = append(cids, in.CID)
	}
	for _, t := range j.Tables() {
		cids = append(cids, t.CID)
	}
	return cids
}

// JobRoots lists what every task of a job may read, each with the size that it must have. Of a table
// a task needs a page alone.
func JobRoots(j *task.Job) []blocks.Root {
	roots := modulesOf(j)
	for i := range j.Inputs {
		roots = append(roots, inputRoot(&j.Inputs[i]))
	}
	return roots
}

// TableRoots lists the tables of a job, each with the size that it must have.
func TableRoots(j *task.Job) []blocks.Root {
	var roots []blocks.Root
	for _, f := range j.TableFiles() {
		roots = append(roots, inputRoot(&f))
	}
	return roots
}

func inputRoot(f *task.FileRef) blocks.Root {
	return blocks.Root{CID: f.CID, Bound: blocks.Exactly(f.Size)}
}

// release forgets a client's job, and ends what makes it ready.
func (s *jobs) release(of Client, id task.JobID) {
	name := comingJob{of, id}
	if p := s.coming[name]; p != nil {
		delete(s.coming, name)
		p.end()
		return
	}
	s.discard(s.ready[id])
	delete(s.ready, id)
}

// reads lists what the tasks of a job read that is ready here; nil for any other.
func (s *jobs) reads(id task.JobID) []task.CID {
	if j := s.ready[id]; j != nil {
		return JobContent(j.spec)
	}
	return nil
}

// roots lists the jobs that are ready and what all their tasks read. What one task reads is held
// while it runs.
func (s *jobs) roots() []task.CID {
	var out []task.CID
	for id, j := range s.ready {
		out = append(append(out, task.CID(id)), j.spec.Modules()...)
		for c := range j.inputs {
			out = append(out, c)
		}
	}
	return out
}
