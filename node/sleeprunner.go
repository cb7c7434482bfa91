package node

import (
	"context"
	"sync"
	"time"

	"godwit/sandbox"
	"godwit/task"
)

// sleepRunner waits as long as the job's work says, time in which the owner
// stopped it not counted.
type sleepRunner struct {
	mu      sync.Mutex
	stopped chan struct{} // closed by Resume; nil while tasks go on
	halt    chan struct{} // closed by Pause; nil until somebody waits for it
}

// Pause stops every wait, Resume lets them go on.
func (r *sleepRunner) Pause() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped != nil {
		return
	}
	r.stopped = make(chan struct{})
	if r.halt != nil {
		close(r.halt)
		r.halt = nil
	}
}

// Resume undoes Pause.
func (r *sleepRunner) Resume() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped != nil {
		close(r.stopped)
		r.stopped = nil
	}
}

// gates returns what is closed at the next Resume, nil while tasks go on, and
// what is closed at the next Pause.
func (r *sleepRunner) gates() (stopped, halt chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.halt == nil && r.stopped == nil {
		r.halt = make(chan struct{})
	}
	return r.stopped, r.halt
}

// Run waits; its one output is an empty standard output.
func (r *sleepRunner) Run(ctx context.Context, p *preparedJob, _ task.TaskID, _ task.Invocation, _ *saving) (sandbox.Report, error) {
	for left := p.job.Work; left > 0; {
		stopped, halt := r.gates()
		if stopped != nil {
			select {
			case <-stopped:
				continue
			case <-ctx.Done():
				return sandbox.Report{}, ctx.Err()
			}
		}
		begun, t := time.Now(), time.NewTimer(left)
		select {
		case <-t.C:
			left = 0
		case <-halt:
			left -= time.Since(begun)
		case <-ctx.Done():
			t.Stop()
			return sandbox.Report{}, ctx.Err()
		}
		t.Stop()
	}
	return sandbox.Report{
		Outcome: task.Completed,
		Outputs: []sandbox.File{{Name: "stdout"}},
		Wall:    p.job.Work,
	}, nil
}

// Close does nothing: no sleep outlives its context.
func (*sleepRunner) Close() error { return nil }
