package exec

import (
	"context"
	"errors"
	"fmt"
	"time"

	"godwit/blocks"
	"godwit/sandbox"
	"godwit/task"
)

// runTask runs one task to a result, signed where it is an audit's: its worker signs what came of a lease, with
// what comes at the same time. It never fails: what goes wrong on this host is a result too, which does not count
// against the task.
func (c *core) runTask(a *attempt, s *saving) task.Result {
	defer s.over()
	ctx, id, begun := a.context, a.name.Task, time.Now()
	res := task.Result{Task: id, Worker: c.Self, Receipt: a.receipt}
	kept := c.keepStates(a, s)
	rep, err := told(a, func() (sandbox.Report, error) { return c.run(a, s) })
	switch {
	case err == nil:
		res.Outcome, res.ExitCode, res.Message = rep.Outcome, rep.ExitCode, task.ClipMessage(rep.Message)
		res.CPU, res.Wall, res.Trail, res.Reads = rep.CPU, rep.Wall, rep.SignedTrail(), a.reads.Name()
		if r := rep.StoppedTrail(); r != nil && a.audit != nil {
			res.Trail = r
		}
		if s != nil && res.Trail != nil {
			res.Trail.Began = s.chain
		}
		res.Outputs, err = c.keepOutputs(ctx, a.job, id.Index, rep.Outputs)
	case ctx.Err() != nil:
		res.Outcome, res.Message, res.Wall = task.Interrupted, "stopped by its host", time.Since(begun)
		err = nil
	}
	if err != nil {
		res.Outcome, res.Message, res.Outputs = task.HostError, task.ClipMessage(err.Error()), nil
		res.Trail = nil
		if a.audit != nil {
			a.audit.unthawed(err)
		}
		c.Log.Warn("task could not be run here", "task", id.String(), "err", err)
	}
	kept(&rep, &res)
	c.Ended.note(&res)
	if a.audit == nil && a.job != nil {
		c.Content.Worked(a.job.submitter, res.CPU)
	}
	err = res.Signable(c.Self)
	if err == nil && a.audit != nil {
		err = res.SignBy(c.Self, c.Sign)
	}
	if err != nil {
		// Only a result out of bounds cannot be signed; say so in one that can.
		c.Log.Error("signing a result", "task", id.String(), "err", err)
		return c.unrun(id, task.HostError, err.Error(), a.receipt)
	}
	return res
}

// unrun returns the signed result of a task that did not run, or of which nothing else can be said.
func (c *core) unrun(id task.TaskID, o task.Outcome, why string, receipt *task.Receipt) task.Result {
	res := task.Result{Task: id, Worker: c.Self, Outcome: o, Message: task.ClipMessage(why), Receipt: receipt}
	if err := res.SignBy(c.Self, c.Sign); err != nil {
		c.Log.Error("signing a result", "task", id.String(), "err", err)
	}
	return res
}

func (c *core) run(a *attempt, s *saving) (sandbox.Report, error) {
	ctx, job, id := a.context, a.job, a.name.Task
	if job == nil {
		return sandbox.Report{}, errors.New("the job is no longer prepared here")
	}
	of, inv, err := c.invocation(a)
	switch {
	case errors.Is(err, task.ErrTable):
		return sandbox.Report{Outcome: task.InvalidModule, Message: err.Error()}, nil
	case err != nil:
		return sandbox.Report{}, fmt.Errorf("expanding %s: %w", id, err)
	}
	own, err := job.files.bringOwn(ctx, job, inv.Reads(), a.holders)
	if err != nil {
		return sandbox.Report{}, err
	}
	defer own.release()
	given, err := c.give(a)
	if why := unreadable(""); errors.As(err, &why) {
		return refusedReads(why), nil
	}
	if err != nil {
		return sandbox.Report{}, err
	}
	if given != nil {
		defer given.drop()
	}
	given.addTo(&inv, job.spec, id.Index)
	r := Run{Job: job, Task: id, As: id, Invocation: inv, Of: of, given: given, State: s.state(), own: own.paths}
	if a.audit != nil {
		r.Interpreted, r.StopAt, r.Most = a.audit.Interpreted, a.audit.stopAt, a.audit.Most
		r.State = a.audit.brought.state
		if a.audit.signed != nil {
			r.As = a.audit.signed.Task
		}
	}
	rep, err := c.Runner.Run(ctx, r)
	job.saves.paused(rep.Checkpoints)
	wentOn := s != nil && s.From != nil && s.Stages == nil
	failed := err != nil || rep.Outcome == task.HostError
	if !wentOn || !failed || ctx.Err() != nil || errors.Is(err, sandbox.ErrTooDeep) {
		return rep, err
	}
	// What a state brought along is no fault of the task: it gets a clean start.
	c.Log.Warn("a task could not go on from its checkpoint: it begins anew",
		"task", id.String(), "err", err, "message", rep.Message)
	if s.refused != nil && errors.Is(err, sandbox.ErrCheckpoint) && !s.pages.failed.Load() && !sandbox.Foreign(s.From) {
		s.refused()
	}
	s.From, s.chain, s.trail = nil, nil, nil
	return c.Runner.Run(ctx, r)
}

// keepOutputs stores outputs, sealed by sealer, as blocks; small ones travel in the result.
func (c *core) keepOutputs(ctx context.Context, job *Job, index uint64, files []sandbox.File) ([]task.Output, error) {
	var need int64
	sealer, inline := job.sealer, job.spec.InlineOf(index)
	for _, f := range files {
		need += sealer.Size(int64(len(f.Data)))
	}
	if err := c.Content.MakeRoom(ctx, need, true); err != nil {
		return nil, fmt.Errorf("storing the outputs: %w", err)
	}
	out := make([]task.Output, 0, len(files))
	for _, f := range files {
		data := sealer.SealFile(f.Data)
		o := task.Output{Name: f.Name, Size: int64(len(data))}
		var err error
		if len(data) <= inline {
			o.Inline = data
			o.CID, err = blocks.CIDOfBytes(data)
		} else {
			o.CID, err = c.Content.Blocks().ImportBytes(ctx, data)
		}
		if err != nil {
			c.Content.Failed(err)
			return nil, fmt.Errorf("storing output %s: %w", f.Name, err)
		}
		out = append(out, o)
	}
	return out, nil
}
