package exec

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"log/slog"
	"sync/atomic"

	"godwit/owner"
	"godwit/sandbox"
	"godwit/task"
)

// Sandboxed is a Runner of tasks in sandbox processes.
type Sandboxed struct {
	pools *pools
	cage  *owner.Cage
	rules func() owner.Rules // nil for the zero Rules
	cores atomic.Int32       // that tasks may use, as Cap was told last
}

// NewSandboxed returns a Runner of a configuration whose Started it sets. Capped ones
// are kept within their caps by the kernel where it lends its help.
func NewSandboxed(c sandbox.Config, capped bool) *Sandboxed {
	cage := &owner.Cage{}
	if capped {
		cage = owner.NewCage()
	}
	c.Started = func(pid int) { confine(cage, pid, c.Log) }
	r := &Sandboxed{cage: cage}
	c.Cores = func() int { return int(r.cores.Load()) }
	c.Interpret = func() bool { return r.rules != nil && r.rules().Strict }
	c.KeepPriority = func() bool { return r.rules != nil && r.rules().NoPriorityChange }
	r.pools = newPools(c)
	return r
}

// Obey implements Runner.
func (r *Sandboxed) Obey(rules func() owner.Rules) { r.rules = rules }

// confine puts a sandbox under the kernel's caps.
func confine(cage *owner.Cage, pid int, log *slog.Logger) {
	if err := cage.Add(pid); err != nil {
		log.Warn("a sandbox is not under the kernel's caps", "pid", pid, "err", err)
	}
}

// Run implements Runner: it runs the task's module.
func (r *Sandboxed) Run(ctx context.Context, run Run) (sandbox.Report, error) {
	of := cmp.Or(run.Of, run.Job.spec)
	t := sandbox.TaskOf(of, run.As, run.Invocation, run.Job.module[of.Module], run.Input)
	t.Tenant = run.Job.tenant()
	s := run.State
	if s != nil {
		t.Pages, t.From, t.Every = s.Pages, s.From, s.Every
		t.OnCheckpoint, t.OnNotSaved = s.OnCheckpoint, s.OnNotSaved
		t.Freeze, t.Save, t.Due, t.Share = s.Stop, s.Save, s.Due, s.Share
		t.OnBoundary = s.OnBoundary
		t.Stages, t.OnStandby, t.OnStage, t.OnBegin = s.Stages, s.OnStandby, s.OnStage, s.OnBegin
		t.OnState, t.OnEngine = s.OnState, s.OnEngine
	}
	if run.Most > 0 {
		t.Limits.Wall = min(t.Limits.Wall, run.Most)
	}
	if run.StopAt > 0 {
		t.FreezeAtFuel, t.Pages = run.StopAt, sandbox.Unkept{From: t.Pages}
	}
	rep, err := r.pools.of(run.Interpreted).Run(ctx, t)
	if err == nil && s != nil && s.OnFrozen != nil && len(rep.Frozen) > 0 {
		s.OnFrozen(rep.Frozen, rep.Fuel, rep.CPU)
	}
	return rep, err
}

// Ready implements Readier.
func (r *Sandboxed) Ready(ctx context.Context, module task.CID, path string) error {
	return r.pools.usual.Prepare(ctx, string(module), path)
}

// Check implements Checker: it validates the module in a process of its own.
func (r *Sandboxed) Check(ctx context.Context, module []byte) error {
	_, err := r.pools.usual.Check(ctx, module, false)
	return err
}

// ReadsFiles implements Runner.
func (r *Sandboxed) ReadsFiles() bool { return true }

// Saves implements Runner.
func (r *Sandboxed) Saves() bool { return true }

// Rounds implements Runner.
func (r *Sandboxed) Rounds() bool { return true }

// Pages implements Runner.
func (r *Sandboxed) Pages(state []byte) ([][sha256.Size]byte, error) { return sandbox.PagesOf(state) }

// Pause stops every sandbox.
func (r *Sandboxed) Pause() { r.pools.pause(true) }

// Resume lets every sandbox go on.
func (r *Sandboxed) Resume() { r.pools.pause(false) }

// Cap keeps the running sandboxes within a number of cores and of bytes: by the
// kernel where it lends its help, else by letting them run a share of the time.
func (r *Sandboxed) Cap(cores int, memory int64, running int) error {
	r.cores.Store(int32(cores))
	if r.cage.Holds() {
		return r.cage.Limit(cores, memory)
	}
	if cores > 0 {
		r.pools.throttle(float64(cores) / float64(max(running, cores)))
	}
	return nil
}

// Excess implements Runner.
func (r *Sandboxed) Excess() map[string]int64 { return r.pools.excess() }

// Caps says how Cap does it.
func (r *Sandboxed) Caps() string { return r.cage.Text() }

// Walls says what keeps tasks in.
func (r *Sandboxed) Walls(ctx context.Context) []owner.Finding { return Walls(ctx, r.pools.usual) }

// Speed measures a core of this machine, relative to the reference core.
func (r *Sandboxed) Speed(ctx context.Context) (float64, error) { return r.pools.usual.Speed(ctx) }

// Close ends every sandbox process.
func (r *Sandboxed) Close() error { return errors.Join(r.pools.close(), r.cage.Close()) }
