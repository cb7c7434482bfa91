package node

import (
	"context"
	"crypto/sha256"
	"sync"
	"time"

	"godwit/sandbox"
	"godwit/task"
)

// sleepRunner waits as long as the job's work says, time in which the owner
// stopped it not counted.
type sleepRunner struct {
	imposed map[string]float64 // see Config.Imposed

	mu      sync.Mutex
	fine    []*fineTimer  // that nobody waits by
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

// Run waits, from where a saved state left off; its one output is an empty
// standard output.
func (r *sleepRunner) Run(ctx context.Context, p *preparedJob, _ task.TaskID, _ task.Invocation, s *saving) (sandbox.Report, error) {
	w := wait{speed: imposedOn(r.imposed, p.job.Class)}
	w.work = time.Duration(float64(p.job.Work) / w.speed)
	from, err := s.beginning(ctx)
	if err != nil {
		return sandbox.Report{}, err
	}
	if from != nil {
		done, err := readWaited(from, p.job.Work)
		if err != nil {
			return sandbox.Report{}, err
		}
		w.before = time.Duration(float64(done) / w.speed)
	}
	if w.work <= fineWork {
		w.fine = r.takeFine()
		defer r.putFine(w.fine)
	}
	s.begins()
	for w.left() > 0 {
		stopped, halt := r.gates()
		if stopped != nil {
			select {
			case <-stopped:
				continue
			case <-s.stopping():
				w.freeze(s)
				return w.saved(), nil
			case <-ctx.Done():
				return sandbox.Report{}, ctx.Err()
			}
		}
		frozen, err := w.on(ctx, halt, s)
		switch {
		case err != nil:
			return sandbox.Report{}, err
		case frozen:
			return w.saved(), nil
		}
	}
	return sandbox.Report{
		Outcome: task.Completed,
		Outputs: []sandbox.File{{Name: "stdout"}},
		CPU:     w.here,
		Wall:    w.here,
	}, nil
}

// Saves says that states are saved, Pages that they are whole in themselves.
func (*sleepRunner) Saves() bool                                     { return true }
func (*sleepRunner) Rounds() bool                                    { return false }
func (*sleepRunner) Pages(state []byte) ([][sha256.Size]byte, error) { return nil, nil }

// takeFine returns a timer that nobody waits by; nil where the system has none.
func (r *sleepRunner) takeFine() *fineTimer {
	r.mu.Lock()
	defer r.mu.Unlock()
	if last := len(r.fine) - 1; last >= 0 {
		t := r.fine[last]
		r.fine = r.fine[:last]
		return t
	}
	return newFineTimer()
}

func (r *sleepRunner) putFine(t *fineTimer) {
	if t == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fine = append(r.fine, t)
}

// Close frees the timers: no sleep outlives its context.
func (r *sleepRunner) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range r.fine {
		t.close()
	}
	r.fine = nil
	return nil
}
