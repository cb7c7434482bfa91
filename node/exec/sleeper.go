package exec

import (
	"cmp"
	"context"
	"crypto/sha256"
	"sync"
	"time"

	"godwit/owner"
	"godwit/sandbox"
	"godwit/task"
)

// A Sleeper is a Runner that waits as long as the job's work says, divided by what is
// imposed on its class; time in which the owner stopped it is not counted. The zero value
// is ready for use.
type Sleeper struct {
	Gate
	Imposed Speeds // set before the first Run

	mu   sync.Mutex
	fine []*fineTimer // that nobody waits by
}

// Run waits, from where a saved state left off; its one output is an empty
// standard output.
func (r *Sleeper) Run(ctx context.Context, run Run) (sandbox.Report, error) {
	spec, s := cmp.Or(run.Of, run.Job.spec), run.State
	w := wait{speed: r.Imposed.of(spec.Class)}
	w.work = time.Duration(float64(spec.Work) / w.speed)
	from, err := s.Whole(ctx)
	if err != nil {
		return sandbox.Report{}, err
	}
	if from != nil {
		done, err := readWaited(from, spec.Work)
		if err != nil {
			return sandbox.Report{}, err
		}
		w.before = time.Duration(float64(done) / w.speed)
	}
	if w.work <= fineWork {
		w.fine = r.takeFine()
		defer r.putFine(w.fine)
	}
	s.Begins()
	for w.left() > 0 {
		stopped, halt := r.Turns()
		if stopped != nil {
			select {
			case <-stopped:
				continue
			case <-s.Stopping():
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

// ReadsFiles implements Runner.
func (*Sleeper) ReadsFiles() bool { return false }

// Saves implements Runner.
func (*Sleeper) Saves() bool { return true }

// Rounds implements Runner.
func (*Sleeper) Rounds() bool { return false }

// Pages implements Runner: states are whole in themselves.
func (*Sleeper) Pages([]byte) ([][sha256.Size]byte, error) { return nil, nil }

// Cap implements Runner: who waits takes neither cores nor memory.
func (*Sleeper) Cap(int, int64, int) error { return nil }

// Excess implements Runner.
func (*Sleeper) Excess() map[string]int64 { return nil }

// Obey implements Runner: nothing is compiled.
func (*Sleeper) Obey(func() owner.Rules) {}

// Walls implements Runner.
func (*Sleeper) Walls(context.Context) []owner.Finding { return nil }

// Caps implements Runner.
func (*Sleeper) Caps() string { return "not needed: no task runs anything" }

// takeFine returns a timer that nobody waits by; nil where the system has none.
func (r *Sleeper) takeFine() *fineTimer {
	r.mu.Lock()
	defer r.mu.Unlock()
	if last := len(r.fine) - 1; last >= 0 {
		t := r.fine[last]
		r.fine = r.fine[:last]
		return t
	}
	return newFineTimer()
}

func (r *Sleeper) putFine(t *fineTimer) {
	if t == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fine = append(r.fine, t)
}

// Close frees the timers: no sleep outlives its context.
func (r *Sleeper) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range r.fine {
		t.close()
	}
	r.fine = nil
	return nil
}
