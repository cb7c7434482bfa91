package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"syscall"

	"godwit/sandbox/freeze"
	"godwit/sandbox/wasi"
	"godwit/task"
)

// Run runs a task to its end and reports how that was. The error is not nil
// only where the task is not to blame and nothing is known about it: ctx
// ended (the report then says Interrupted), the pool was closed, an input
// could not be read, no child could be started, Task.From was refused (see
// ErrCheckpoint), its stack is too deep for this machine (see ErrTooDeep). A task that was frozen is a report
// with outcome Interrupted
// and no error. A child that is lost in the
// middle, by a crash or because the machine ran out of memory, is a report
// with outcome HostError.
func (p *Pool) Run(ctx context.Context, t Task) (Report, error) {
	t.Limits = t.Limits.withDefaults()
	if err := t.validate(); err != nil {
		return Report{Outcome: task.HostError}, err
	}
	if err := ctx.Err(); err != nil {
		return Report{Outcome: task.Interrupted}, err
	}
	began := p.clock.now()
	runs := began // when the program does: one that waits for its state does not count
	c, err := p.obtain(ctx, &t)
	switch {
	case err != nil && ctx.Err() != nil:
		return Report{Outcome: task.Interrupted}, ctx.Err()
	case err != nil:
		return Report{Outcome: task.HostError}, err
	}
	p.loads.busy.Add(1)
	defer p.loads.busy.Add(-1)
	defer c.loadOver()
	p.runsNow(c, &t)
	if t.OnEngine != nil {
		t.OnEngine(engineName(c.strict), freeze.PassVersion)
	}
	rep, err := p.watch(ctx, c, t, func() {
		if t.Stages != nil {
			runs = p.clock.now()
		}
	})
	now := p.clock.now()
	rep.Wall = now - runs
	rep.Engine = engineName(c.strict)
	rep.CPU = min(rep.CPU, (now-began)*childProcs) // a child's word is checked
	return rep, err
}

// loadOver lets those go on who wait for the module that the child made ready.
func (c *child) loadOver() {
	if c.loaded != nil {
		c.loaded()
	}
}

func (t *Task) validate() error {
	if t.Module == "" {
		return errors.New("task has no module")
	}
	if t.Pages == nil && (t.OnState != nil || len(t.From) > 0 || t.Every > 0 || t.Save != nil || t.Due != nil ||
		t.Stages != nil || t.Freeze != nil || t.FreezeAtFuel > 0) {
		return errors.New("task has no store for its checkpoints")
	}
	if t.Spacing > 0 && t.Spacing < MinSpacing {
		return fmt.Errorf("task has boundaries each %d units of fuel, the least is %d", t.Spacing, MinSpacing)
	}
	if len(t.From) > 0 && t.Stages != nil {
		return errors.New("task has a state to go on from, and one that comes in stages")
	}
	for _, f := range t.Files {
		if err := wasi.CheckName(f.Name); err != nil {
			return fmt.Errorf("input file %q: %w", f.Name, err)
		}
	}
	return nil
}

// watch runs t on c, kills c when ctx or the time limit ends, and gives c back
// if it can be used again. begun is called when its program runs.
func (p *Pool) watch(ctx context.Context, c *child, t Task, begun func()) (Report, error) {
	var late atomic.Bool
	stop := context.AfterFunc(ctx, func() { _ = c.cmd.Process.Kill() })
	stopTimer := func() {}
	startTimer := func() {
		if t.Limits.Wall > 0 {
			stopTimer = p.clock.after(t.Limits.Wall, func() {
				late.Store(true)
				_ = c.cmd.Process.Kill()
			})
		}
	}
	if t.Stages == nil {
		startTimer()
	}
	rep, err := p.exchange(c, t, func() {
		if t.Stages != nil {
			startTimer()
		}
		begun()
	})
	stopTimer()
	// If ctx ended just now the child may be dying, whatever it answered.
	if err == nil && rep.Outcome == task.Interrupted {
		stop()
		p.retire(c) // its memory is free when it is gone, whoever stands still
		return rep, nil
	}
	if err == nil && stop() && !late.Load() && rep.Outcome != task.HostError && rep.Outcome != task.InvalidModule {
		p.tighten(c)
		p.give(c)
		return rep, nil
	}
	stop()
	p.discard(c)
	var input *inputError
	switch {
	case err == nil:
		return rep, nil
	case ctx.Err() != nil:
		return Report{Outcome: task.Interrupted}, ctx.Err()
	case late.Load():
		return Report{Outcome: task.TimedOut, Message: fmt.Sprintf("ran longer than %v", t.Limits.Wall)}, nil
	case p.isClosed():
		return Report{Outcome: task.Interrupted}, ErrClosed
	case errors.Is(err, errNoState):
		return Report{Outcome: task.Interrupted, Message: err.Error()}, nil
	case errors.As(err, &input), errors.Is(err, ErrCheckpoint), errors.Is(err, ErrTooDeep):
		return Report{Outcome: task.HostError}, err
	}
	rep = c.postMortem(err)
	p.cfg.Log.Warn("sandbox process lost", "task", t.Name, "outcome", rep.Outcome, "message", rep.Message)
	return rep, nil
}

// postMortem says why a child that is gone went.
func (c *child) postMortem(err error) Report {
	words := c.stderr.String()
	switch {
	case strings.Contains(words, "out of memory") || strings.Contains(words, "cannot allocate memory"):
		return Report{Outcome: task.OutOfMemory,
			Message: "the task's tables, files or code need more memory than its process may have"}
	case killed(c.state):
		return Report{Outcome: task.HostError, Message: "the sandbox process was killed; the machine may be short of memory"}
	case words != "":
		return Report{Outcome: task.HostError, Message: clip("the sandbox process crashed: " + words)}
	}
	return Report{Outcome: task.HostError, Message: clip(fmt.Sprintf("the sandbox process was lost: %v (%v)", err,
		c.state))}
}

// killed reports whether a process ended by SIGKILL, which the kernel sends
// when memory runs out.
func killed(s *os.ProcessState) bool {
	w, ok := s.Sys().(syscall.WaitStatus)
	return ok && w.Signaled() && w.Signal() == syscall.SIGKILL
}

// report checks a child's answer: it ran a stranger's program.
func (r *response) report(t Task, body []byte) (Report, error) {
	if r.Outcome == task.OutcomeUnknown || r.Outcome == task.Interrupted || r.Outcome == task.TimedOut ||
		r.Outcome > task.HostError {
		return Report{}, fmt.Errorf("the sandbox process answered outcome %d", r.Outcome)
	}
	rep := Report{
		Outcome: r.Outcome, ExitCode: r.ExitCode, Message: clip(r.Message),
		CPU: max(r.CPU, 0), PeakMemory: min(max(r.PeakMemory, 0), t.Limits.Memory),
		Fuel: r.Fuel, Restore: max(r.Restore, 0),
	}
	copy(rep.StateHash[:], r.Hash)
	if len(r.Outputs) > task.MaxOutputs {
		return Report{}, fmt.Errorf("the sandbox process sent %d outputs, the most is %d", len(r.Outputs), task.MaxOutputs)
	}
	for i, o := range r.Outputs {
		stream := o.Name == task.Stdout || o.Name == task.Stderr
		switch {
		case o.Size < 0 || o.Size > int64(len(body)):
			return Report{}, errors.New("the sandbox process sent outputs shorter than it said")
		case !task.MatchOutput(t.Outputs, o.Name) && (o.Name != task.Stderr || rep.Outcome == task.Completed),
			!stream && task.ValidSandboxPath(o.Name) != nil:
			return Report{}, fmt.Errorf("the sandbox process sent an output that was not asked for: %q", o.Name)
		case i > 0 && r.Outputs[i-1].Name >= o.Name:
			return Report{}, errors.New("the sandbox process sent outputs out of order")
		}
		rep.Outputs = append(rep.Outputs, File{o.Name, body[:o.Size:o.Size]})
		body = body[o.Size:]
	}
	if len(body) > 0 {
		return Report{}, errors.New("the sandbox process sent more than its outputs")
	}
	return rep, nil
}
