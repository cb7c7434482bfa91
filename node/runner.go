package node

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"godwit/blocks"
	"godwit/owner"
	"godwit/sandbox"
	"godwit/task"
)

// A Runner runs one task of a prepared job. Its error is the host's fault; the
// task's own end, good or bad, is in the report. s is nil for a task whose
// state is not saved.
type Runner interface {
	Run(ctx context.Context, job *preparedJob, id task.TaskID, inv task.Invocation, s *saving) (sandbox.Report, error)
	Close() error
}

// wasmRunner runs tasks in sandbox processes.
type wasmRunner struct {
	pool *sandbox.Pool
	cage *owner.Cage
}

// Run runs the task's module.
func (r wasmRunner) Run(ctx context.Context, p *preparedJob, id task.TaskID, inv task.Invocation, s *saving) (sandbox.Report, error) {
	t := sandbox.Task{
		Name:       id.String(),
		Module:     string(p.job.Module),
		ModulePath: p.module,
		Args:       inv.Args,
		Env:        inv.Env,
		Outputs:    p.job.Outputs,
		Limits:     sandbox.Limits{Memory: p.job.Memory, Wall: p.job.TimeLimit()},
	}
	for _, f := range inv.Files {
		t.Files = append(t.Files, sandbox.Input{Name: f.Name, Path: p.inputs[f.CID]})
	}
	if inv.Stdin != nil {
		t.Stdin = &sandbox.Input{Name: inv.Stdin.Name, Path: p.inputs[inv.Stdin.CID]}
	}
	t.Checkpoint = p.job.Checkpoint
	if s != nil {
		t.Pages, t.From, t.Every = s.pages, s.from, s.every
		t.OnCheckpoint, t.OnNotSaved = s.checkpoint, s.notSaved
		t.Freeze, t.Save, t.Share = s.stop, s.save, s.share
		if c := s.coming; c != nil {
			t.Stages, t.OnStandby, t.OnStage = c.stages, c.onStandby, c.onStage
			t.OnBegin = c.onBegin
		}
	}
	rep, err := r.pool.Run(ctx, t)
	if err == nil && s != nil && len(rep.Frozen) > 0 {
		s.frozen(rep.Frozen, rep.Fuel, rep.CPU)
	}
	return rep, err
}

// Saves says that states are saved, Pages which pages one is made of.
func (r wasmRunner) Saves() bool                                     { return true }
func (r wasmRunner) Rounds() bool                                    { return true }
func (r wasmRunner) Pages(state []byte) ([][sha256.Size]byte, error) { return sandbox.PagesOf(state) }

// Pause stops every sandbox, Resume lets them go on.
func (r wasmRunner) Pause()  { r.pool.Pause() }
func (r wasmRunner) Resume() { r.pool.Resume() }

// Cap keeps the running sandboxes within a number of cores and of bytes: by the
// kernel where it lends its help, else by letting them run a share of the time.
func (r wasmRunner) Cap(cores int, memory int64, running int) error {
	if r.cage.Holds() {
		return r.cage.Limit(cores, memory)
	}
	if cores > 0 {
		r.pool.Throttle(float64(cores) / float64(max(running, cores)))
	}
	return nil
}

// Caps says how Cap does it.
func (r wasmRunner) Caps() string { return r.cage.Text() }

// Speed measures a core of this machine.
func (r wasmRunner) Speed(ctx context.Context) (float64, error) { return r.pool.Speed(ctx) }

// Close ends every sandbox process.
func (r wasmRunner) Close() error { return errors.Join(r.pool.Close(), r.cage.Close()) }

// runTask runs one task to a signed result. It never fails: what goes wrong on
// this host is a result too, which does not count against the task.
func (n *Node) runTask(ctx context.Context, p *preparedJob, id task.TaskID, s *saving) task.Result {
	begun := time.Now()
	res := task.Result{Task: id, Worker: n.self}
	rep, err := n.attempt(ctx, p, id, s)
	switch {
	case err == nil:
		res.Outcome, res.ExitCode, res.Message = rep.Outcome, rep.ExitCode, clip(rep.Message)
		res.CPU, res.Wall = rep.CPU, rep.Wall
		res.Outputs, err = n.keepOutputs(ctx, rep.Outputs)
	case ctx.Err() != nil:
		res.Outcome, res.Message, res.Wall = task.Interrupted, "stopped by its host", time.Since(begun)
		err = nil
	}
	if err != nil {
		res.Outcome, res.Message, res.Outputs = task.HostError, clip(err.Error()), nil
		n.log.Warn("task could not be run here", "task", id.String(), "err", err)
	}
	if err := res.Sign(n.key); err != nil {
		// Only a result out of bounds cannot be signed; say so in one that can.
		n.log.Error("signing a result", "task", id.String(), "err", err)
		res = task.Result{Task: id, Worker: n.self, Outcome: task.HostError, Message: clip(err.Error())}
		if err := res.Sign(n.key); err != nil {
			n.log.Error("signing a result", "task", id.String(), "err", err)
		}
	}
	return res
}

func (n *Node) attempt(ctx context.Context, p *preparedJob, id task.TaskID, s *saving) (sandbox.Report, error) {
	if p == nil {
		return sandbox.Report{}, errors.New("the job is no longer prepared here")
	}
	inv, err := p.job.Expand(id.Index)
	if err != nil {
		return sandbox.Report{}, fmt.Errorf("expanding %s: %w", id, err)
	}
	rep, err := n.runner.Run(ctx, p, id, inv, s)
	p.saves.paused(rep.Checkpoints)
	if s == nil || s.from == nil || s.coming != nil || ctx.Err() != nil || errors.Is(err, sandbox.ErrTooDeep) || err == nil && rep.Outcome != task.HostError {
		return rep, err
	}
	// What a state brought along is no fault of the task: it gets a clean start.
	n.log.Warn("a task could not go on from its checkpoint: it begins anew", "task", id.String(), "err", err, "message", rep.Message)
	s.from = nil
	return n.runner.Run(ctx, p, id, inv, s)
}

// keepOutputs stores outputs as blocks; small ones travel in the result.
func (n *Node) keepOutputs(ctx context.Context, files []sandbox.File) ([]task.Output, error) {
	out := make([]task.Output, 0, len(files))
	for _, f := range files {
		o := task.Output{Name: f.Name, Size: int64(len(f.Data))}
		var err error
		if len(f.Data) <= task.MaxInline {
			o.Inline = f.Data
			o.CID, err = blocks.CIDOfBytes(f.Data)
		} else {
			o.CID, err = n.blocks.ImportBytes(ctx, f.Data)
		}
		if isFull(err) {
			n.wantRoom()
		}
		if err != nil {
			return nil, fmt.Errorf("storing output %s: %w", f.Name, err)
		}
		out = append(out, o)
	}
	return out, nil
}

func clip(s string) string {
	if len(s) > task.MaxMessage {
		return s[:task.MaxMessage]
	}
	return s
}
