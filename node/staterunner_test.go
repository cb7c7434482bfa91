package node

import (
	"context"
	"math"
	"sync/atomic"
	"time"

	"godwit/node/exec"
	"godwit/sandbox"
	"godwit/sandbox/freeze"
	"godwit/sandbox/wasi"
	"godwit/task"
)

// A stateRunner sleeps in place of work, as an exec.Sleeper, and saves how far it
// has come.
type stateRunner struct {
	exec.Sleeper
	slower atomic.Uint64 // bits of 1 less the rate
}

// setRate has tasks go on at a share of the reference core's speed.
func (r *stateRunner) setRate(rate float64) {
	r.Pause()
	r.slower.Store(math.Float64bits(1 - rate))
	r.Resume()
}

func (r *stateRunner) rate() float64 { return 1 - math.Float64frombits(r.slower.Load()) }

// Run sleeps for what is left of the job's work.
func (r *stateRunner) Run(ctx context.Context, run exec.Run) (sandbox.Report, error) {
	spec, s := run.Job.Spec(), run.State
	state, err := s.Whole(ctx)
	if err != nil {
		return sandbox.Report{}, err
	}
	from, err := doneIn(state)
	if err != nil {
		return sandbox.Report{}, err
	}
	s.Begins()
	done, ran := from, time.Duration(0)
	take := func(tell func([]byte, uint64, time.Duration)) error {
		state, err := stateAt(done)
		if err == nil {
			tell(state, uint64(done), done-from)
		}
		ran = 0
		return err
	}
	var every time.Duration
	if s != nil {
		every = s.Every
	}
	stop := s.Stopping()
	for done < spec.Work {
		halted, halt := r.Turns()
		if halted != nil {
			select {
			case <-halted:
				continue
			case <-stop:
				return sandbox.Report{Outcome: task.Interrupted, Wall: done - from}, take(s.OnFrozen)
			case <-ctx.Done():
				return sandbox.Report{}, ctx.Err()
			}
		}
		rate := r.rate()
		next := time.Duration(math.Ceil(float64(spec.Work-done) / rate))
		if every > 0 {
			next = min(next, every-ran)
		}
		begun, t := time.Now(), time.NewTimer(next)
		frozen := false
		select {
		case <-t.C:
		case <-halt:
		case <-stop:
			frozen = true
		case <-ctx.Done():
			t.Stop()
			return sandbox.Report{}, ctx.Err()
		}
		t.Stop()
		passed := min(time.Since(begun), next)
		done, ran = min(spec.Work, done+time.Duration(float64(passed)*rate)), ran+passed
		if frozen {
			return sandbox.Report{Outcome: task.Interrupted, Wall: done - from}, take(s.OnFrozen)
		}
		if every > 0 && ran >= every && done < spec.Work {
			if err := take(s.OnCheckpoint); err != nil {
				return sandbox.Report{}, err
			}
		}
	}
	return sandbox.Report{
		Outcome: task.Completed, Outputs: []sandbox.File{{Name: "stdout"}}, Wall: done - from, CPU: done - from,
	}, nil
}

// stateAt is the state of a task that has come so far: a guest without memory.
func stateAt(done time.Duration) ([]byte, error) {
	system, err := (&wasi.State{}).Save([32]byte{}, 0, nil)
	if err != nil {
		return nil, err
	}
	m := freeze.Manifest{Format: freeze.CheckpointVersion, System: system, State: freeze.State{Fuel: uint64(done)}}
	return m.Encode()
}

// doneIn is how far the task has come that goes on.
func doneIn(state []byte) (time.Duration, error) {
	if state == nil {
		return 0, nil
	}
	m, err := freeze.DecodeManifest(state)
	if err != nil {
		return 0, err
	}
	return time.Duration(m.State.Fuel), nil
}
