package exec

import (
	"time"

	"godwit/internal/pause"
	"godwit/migrate"
	"godwit/task"
)

// saveLook is after how long it is first looked at when to save a task: most end before,
// and to look at each of them would cost more than to start it. No checkpoint is due
// so soon (migrate.SaveAfter). Until then it takes no goroutine.
const saveLook = time.Second

// over ends what saveOnTime began, where the run has ended before the first look. s may be nil.
func (s *saving) over() {
	if s != nil && s.stopClock != nil {
		s.stopClock()
	}
}

// saveOnTime asks for checkpoints of an attempt while its context lasts, where the
// job leaves it to the system when: after each it looks anew how much the task has
// left, how long this host will stay and what checkpoints take. While the task is on
// its way elsewhere none is due: each round of that is one, and leaves its state where
// it will be wanted.
func (x *Executor) saveOnTime(a *attempt, job *Job, s *saving) {
	if job.spec.Checkpoint.Every > 0 || a.controls == nil {
		return
	}
	ctx := a.context
	x.group.Add(1) // until the clock is stopped, or has run down
	clock := time.AfterFunc(saveLook, func() {
		defer x.group.Done()
		for waited := saveLook; ctx.Err() == nil; waited = 0 {
			var every time.Duration
			err := x.Host.Do(ctx, func() { every = x.saveAfter(a.of, a.name.Task, job, s.left) })
			if err != nil || pause.For(ctx, every-waited) != nil {
				return
			}
			a.controls.saveUnlessLeaving()
		}
	})
	s.stopClock = func() {
		if clock.Stop() {
			x.group.Done()
		}
	}
}

// saveAfter is when to save next, on the loop. How long the task takes is what its
// lease said, if it did: the owner's guess, which is all that is known here besides,
// may be a job's worst task.
func (x *Executor) saveAfter(of Client, id task.TaskID, job *Job, left *workLeft) time.Duration {
	pause, stored := job.saves.told()
	transfer := time.Duration(stored / x.pace.uplink(x.lent.Upload) * float64(time.Second))
	running := left.running(x.Host.Speed(), x.lent.Stop)
	every, why := migrate.SaveAfter(running, pause, transfer, of.Forecast())
	x.Log.Debug("the next checkpoint", "task", id.String(), "in", every.Round(time.Second), "reason", why)
	return every
}
