package node

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"time"

	"godwit/blocks/seal"
	"godwit/member"
	"godwit/node/exec"
	"godwit/overlay"
	"godwit/scheduler/message"
	"godwit/scheduler/submitter"
	"godwit/task"
)

// ErrRefused wraps the coordinator's reason for turning a job down.
var ErrRefused = errors.New("node: the job was refused")

// nonceSize makes two equal submissions two jobs; 16 random bytes never meet.
const nonceSize = 16

// A Submission is a job file whose module and inputs are stored at this node.
type Submission struct {
	File   *task.File
	Module task.CID
	Inputs map[string]task.FileRef // by name in the sandbox

	Overlay string // name or ID of the one to run it; "" for the node's usual
	// Key is the one under which the inputs are sealed: see SealingKey. No other job may have it. Empty where they are
	// not: then they are sealed here, as far as they are to be.
	Key []byte
	// Reuse takes results that this node holds of tasks that the job has, too, where they have the same names: see
	// task.Job.NameOf.
	Reuse bool
	// first is a job whose results go before those of others; "" for none.
	first task.JobID
	// sealedBy is the key of another job that the inputs and tables are sealed under, if Key is empty: they are sealed
	// again, under a new key.
	sealedBy []byte
	// adds is the job that this one adds tasks to; "" for none.
	adds task.JobID
}

// modules are the programs of the job.
func (s *Submission) modules() []task.CID {
	if len(s.File.Stages) == 0 {
		return []task.CID{s.Module}
	}
	var out []task.CID
	for i := range s.File.Stages {
		if m := s.File.Stages[i].Module; !slices.Contains(out, m) {
			out = append(out, m)
		}
	}
	return out
}

// Submissions are the jobs that this node hands in, and hands in again when its store
// was lost.
type submissions struct {
	*driver
	overlays *overlays
	queries  *queries
	adding   chan struct{} // is full while tasks are added
}

// Submit signs a job and hands it to the overlay's coordinator. It returns
// when the job is durable there: from then on it cannot be lost. If ctx ends
// first the job stays with this node, which goes on offering it; the ID is
// returned with the error.
func (ss *submissions) Submit(ctx context.Context, s Submission) (task.JobID, error) {
	if ss.cfg.Experiment.Runner != RunSleep {
		for _, module := range s.modules() {
			if err := ss.content.checkModule(ctx, module); err != nil {
				return "", err
			}
		}
	}
	var m *membership
	var rules overlay.Manifest
	var err error
	if e := ss.do(ctx, func() {
		if m, err = ss.overlays.find(s.Overlay); err == nil {
			rules = *m.Manifest()
			err = ss.unused(s.Key)
		}
	}); e != nil {
		return "", e
	}
	if err != nil {
		return "", err
	}
	if s, err = ss.sealed(ctx, s, rules.Admission != overlay.Open); err != nil {
		return "", err
	}
	if err := ss.groupTasks(ctx, s); err != nil {
		return "", err
	}
	rec, err := ss.sign(s, m.id, &rules)
	if err != nil {
		return "", err
	}
	if _, err := ss.content.blocks.PutRecord(ctx, rec.Encode()); err != nil {
		return "", fmt.Errorf("storing the job's record: %w", err)
	}
	// The submitter's promise rests on these blocks: on disk before the offer.
	if err := ss.content.blocks.Sync(ctx); err != nil {
		return "", fmt.Errorf("storing the job: %w", err)
	}
	if err := ss.keepPlain(ctx, &rec); err != nil {
		return "", err
	}
	var reused []message.Reused
	if s.Reuse {
		var release func()
		reused, release, err = ss.reuse(ctx, m, &rec, s.first)
		defer release()
		if err != nil {
			return "", err
		}
	}
	id := rec.ID()
	return id, ss.offer(ctx, m, id, rec, reused)
}

// Ready has a program that was stored here made ready to run, while the owner lends a core that is free: whoever
// stores one is about to hand in a job of it.
func (ss *submissions) Ready(ctx context.Context, module task.CID) error {
	return ss.do(ctx, func() { exec.Ready(ss.exec, module) })
}

// groupTasks works out which rows of the job's tables belong together, where its tasks are grouped by columns.
func (ss *submissions) groupTasks(ctx context.Context, s Submission) error {
	if !s.File.Ungrouped() {
		return nil
	}
	sealer, err := seal.New(s.Key)
	if err != nil {
		return fmt.Errorf("%w: %w", task.ErrKey, err)
	}
	if err := s.File.SetGroups(exec.TableRows(ctx, ss.content, sealer)); err != nil {
		return fmt.Errorf("grouping tasks by columns: %w", err)
	}
	return nil
}

// sign makes a submission a job of an overlay with those rules, and signs it.
func (ss *submissions) sign(s Submission, of overlay.ID, rules *overlay.Manifest) (task.Record, error) {
	job, err := ss.job(s, of, rules)
	if err != nil {
		return task.Record{}, err
	}
	rec, err := task.SignJob(job, ss.key)
	if err != nil {
		return task.Record{}, fmt.Errorf("signing the job: %w", err)
	}
	rec.Key = s.Key
	return rec, nil
}

// job makes a submission a job of an overlay with those rules.
func (ss *submissions) job(s Submission, of overlay.ID, rules *overlay.Manifest) (*task.Job, error) {
	nonce := make([]byte, nonceSize)
	rand.Read(nonce)
	job, err := s.File.Job(s.Module, s.Inputs, string(of), time.Now().UTC(), nonce)
	if err != nil {
		return nil, err
	}
	job.Replicas = max(job.Replicas, rules.Replicas) // the overlay asks for no less
	job.Adds = s.adds
	if job.Verify == nil {
		job.Verify = verifyOf(s.File, rules)
	} else {
		job.Verify = job.Verify.AtLeast(rules.Checks)
	}
	if len(s.Key) > 0 {
		job.Sealed = task.KeyCommitment(s.Key)
	}
	if job.Verify != nil {
		key := task.DrawKey(ss.key, nonce)
		draw := sha256.Sum256(key[:])
		job.Verify.Draw = draw[:]
	}
	return job, nil
}

// verifyOf returns how the results of a job are checked in an overlay with those rules: as its file says, by default by
// the overlay's minimum, and never less than its floor.
func verifyOf(f *task.File, rules *overlay.Manifest) *task.Verify {
	v := f.Verify
	if v == nil && !f.VerifyOff {
		terms, _ := member.Assumed(rules.Admission)
		v = task.Percent(terms.Least)
	}
	return v.AtLeast(rules.Checks)
}

// offer gives the record to the submitter and waits for the answer.
func (ss *submissions) offer(ctx context.Context, m *membership, id task.JobID, rec task.Record,
	reused []message.Reused) error {
	w := ss.Watch(id)
	defer w.Close()
	if err := ss.offerWith(ctx, m, id, rec, reused); err != nil {
		return err
	}
	for {
		var accepted bool
		var refusal string
		if err := ss.do(ctx, func() { accepted, refusal = m.Submitter().Accepted(id), m.refusal(id) }); err != nil {
			return err
		}
		switch {
		case refusal != "":
			return fmt.Errorf("%w: %s", ErrRefused, refusal)
		case accepted:
			return nil
		}
		select {
		case <-w.C:
		case <-ctx.Done():
			return fmt.Errorf("waiting for the coordinator to accept %s: %w", id, ctx.Err())
		case <-ss.stopped:
			return ErrStopped
		}
	}
}

// refusal returns why the coordinator turned a job down, or "".
func (m *membership) refusal(id task.JobID) string {
	st, _ := m.Submitter().Job(id)
	return st.Error
}

// Cancel ends a job that this node submitted: at once, or with soon when what runs of it has ended; no more
// of it is begun then.
func (ss *submissions) Cancel(ctx context.Context, id task.JobID, soon bool) error {
	mine := false
	err := ss.do(ctx, func() {
		if m := ss.overlays.submitted(id); m != nil {
			mine = true
			m.step(m.Submitter(), message.CancelJob{Job: id, Soon: soon})
		}
	})
	if err == nil && !mine {
		err = fmt.Errorf("%w among those this node submitted: %s", ErrUnknownJob, id)
	}
	return err
}

// ErrNotRemoved is returned if no task is removed.
var ErrNotRemoved = errors.New("node: no task is removed")

// RemoveTasks ends tasks of a job that this node submitted and that have not ended: none of them begins, and what runs
// of them is dropped. It returns their number.
func (ss *submissions) RemoveTasks(ctx context.Context, id task.JobID, tasks []message.Range) (n uint64, err error) {
	if e := ss.do(ctx, func() {
		m := ss.overlays.submitted(id)
		if m == nil {
			err = fmt.Errorf("%w among those this node submitted: %s", ErrUnknownJob, id)
			return
		}
		why := ""
		if n, why = submitter.Removable(m.Submitter(), id, tasks); why != "" {
			err = fmt.Errorf("%w: %s", ErrNotRemoved, why)
			return
		}
		m.step(m.Submitter(), message.RemoveTasks{Job: id, Tasks: tasks})
	}); e != nil {
		return 0, e
	}
	return n, err
}

// ErrRunning is returned for forgetting a job that is not over.
var ErrRunning = errors.New("node: the job is not over")

// ErrUnchecked is returned for a job whose results are not checked, since its file says so.
var ErrUnchecked = errors.New("node: the job has verify: off")

// Forget drops a job that this node submitted and that is over, and its results:
// they cannot be had again. Their blocks are removed with the next collection.
// A crash within moments may bring the job back.
func (ss *submissions) Forget(ctx context.Context, id task.JobID) error {
	var err error
	if e := ss.do(ctx, func() {
		m := ss.overlays.submitted(id)
		if m == nil {
			err = fmt.Errorf("%w among those this node submitted: %s", ErrUnknownJob, id)
			return
		}
		if st, _ := m.Submitter().Job(id); !st.Final {
			err = fmt.Errorf("%w: %s", ErrRunning, id)
			return
		}
		m.step(m.Submitter(), message.ForgetJob{Job: id})
	}); e != nil {
		return e
	}
	return err
}

// CheckMore has this node run so many tasks of a job again beyond the limit for checks, 0 for all that wait for that.
// It fails for a job that this node did not submit, and for one whose results are not checked.
func (ss *submissions) CheckMore(ctx context.Context, id task.JobID, tasks uint64) error {
	var err error
	if e := ss.do(ctx, func() {
		m := ss.overlays.submitted(id)
		if m == nil {
			err = fmt.Errorf("%w among those this node submitted: %s", ErrUnknownJob, id)
			return
		}
		st, _ := m.Submitter().Job(id)
		if st.Checks == nil {
			err = fmt.Errorf("%w: %s", ErrUnchecked, id)
			return
		}
		if tasks == 0 {
			tasks = 2 * st.Tasks.Total
		}
		m.step(m.Submitter(), message.CheckMore{Job: id, Tasks: tasks})
	}); e != nil {
		return e
	}
	return err
}

// Results returns the ended tasks of a job that this node submitted and holds,
// at most limit of them from an index, in order.
func (q *queries) Results(ctx context.Context, id task.JobID, index uint64, limit int) ([]message.TaskSummary,
	error) {
	h, err := q.heldBy(ctx, id, from(index, limit))
	if err == nil && !h.mine {
		err = fmt.Errorf("%w among those this node submitted: %s", ErrUnknownJob, id)
	}
	return h.results, err
}
