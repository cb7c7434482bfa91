package experiment

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// Limits of a Manager.
const (
	MaxDefinitions = 100
	MaxRuns        = 100 // number of stored runs; the oldest ended run is removed first
	// maxSimulated and maxPlayed limit concurrent runs on the simulator and on nodes.
	maxSimulated = 2
	maxPlayed    = 1
)

// Errors that the Manager's methods wrap.
var (
	ErrUnknown   = errors.New("there is no such experiment or run")
	ErrFull      = errors.New("too many")
	ErrInUse     = errors.New("the experiment has a run that has not ended")
	ErrSimulated = errors.New("only servers of real nodes are controlled, while they run")
	ErrClosed    = errors.New("the experiments' service ends")
)

// Manager owns experiments and their runs. Methods are safe for concurrent use. They send requests to the goroutine
// that executes Run, and return ErrClosed after its end.
type Manager struct {
	dir      string // parent directory of runs on nodes
	requests chan func()
	over     chan ended
	closed   chan struct{}
	maxima   maxima

	// Only the goroutine of Run accesses these fields.
	definitions []*Definition
	runs        []*run
	lastID      struct{ definition, run int }
	active      sync.WaitGroup
	ctx         context.Context // parent context of all runs
}

// maxima limits the number of stored definitions and runs.
type maxima struct{ definitions, runs int }

// ended is the outcome of a run.
type ended struct {
	run *run
	err error
}

// New returns a Manager that stores the data of running nodes in dir.
func New(dir string) *Manager {
	return &Manager{dir: dir, requests: make(chan func()), over: make(chan ended), closed: make(chan struct{}),
		maxima: maxima{MaxDefinitions, MaxRuns}}
}

// Run serves requests until ctx ends. It returns after every run has ended.
func (m *Manager) Run(ctx context.Context) error {
	defer close(m.closed)
	var cancel context.CancelFunc
	m.ctx, cancel = context.WithCancel(ctx)
	defer cancel()
	for {
		select {
		case f := <-m.requests:
			f()
		case e := <-m.over:
			m.finish(e)
		case <-ctx.Done():
			m.drain()
			return nil
		}
	}
}

// drain waits until every run has ended.
func (m *Manager) drain() {
	all := make(chan struct{})
	go func() { m.active.Wait(); close(all) }()
	for {
		select {
		case e := <-m.over:
			m.finish(e)
		case <-all:
			return
		}
	}
}

// do executes f on the goroutine of Run.
func (m *Manager) do(ctx context.Context, f func() error) error {
	var err error
	done := make(chan struct{})
	select {
	case m.requests <- func() { err = f(); close(done) }:
	case <-ctx.Done():
		return ctx.Err()
	case <-m.closed:
		return ErrClosed
	}
	<-done // f takes microseconds, so ctx is not checked again
	return err
}

// Define validates and stores an experiment.
func (m *Manager) Define(ctx context.Context, s Source) (*Definition, error) {
	d, err := Decode(s)
	if err != nil {
		return nil, err
	}
	err = m.do(ctx, func() error {
		if len(m.definitions) >= m.maxima.definitions {
			return fmt.Errorf("%w experiments: there are %d (delete one)", ErrFull, len(m.definitions))
		}
		m.lastID.definition++
		d.ID, d.Defined = fmt.Sprint("exp-", m.lastID.definition), time.Now().UTC()
		m.definitions = append(m.definitions, d)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return d, nil
}

// Definitions returns all experiments in order of definition. The caller must not modify them.
func (m *Manager) Definitions(ctx context.Context) (out []*Definition, err error) {
	err = m.do(ctx, func() error { out = slices.Clone(m.definitions); return nil })
	return out, err
}

// Definition returns an experiment by ID. The caller must not modify it.
func (m *Manager) Definition(ctx context.Context, id string) (d *Definition, err error) {
	err = m.do(ctx, func() (err error) { d, err = m.find(id); return err })
	return d, err
}

// find returns an experiment by ID. It must run on the goroutine of Run.
func (m *Manager) find(id string) (*Definition, error) {
	i := slices.IndexFunc(m.definitions, func(d *Definition) bool { return d.ID == id })
	if i < 0 {
		return nil, fmt.Errorf("%.100q: %w", id, ErrUnknown)
	}
	return m.definitions[i], nil
}

// Delete removes an experiment without active runs. Ended runs remain.
func (m *Manager) Delete(ctx context.Context, id string) error {
	return m.do(ctx, func() error {
		d, err := m.find(id)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(m.runs, func(r *run) bool { return r.of == d && r.status.State == Running }) {
			return fmt.Errorf("%s: %w", id, ErrInUse)
		}
		m.definitions = slices.DeleteFunc(m.definitions, func(o *Definition) bool { return o == d })
		return nil
	})
}

// Start starts a run of an experiment and returns without waiting for its end.
func (m *Manager) Start(ctx context.Context, id string, o RunOptions) (status RunStatus, err error) {
	if err := o.check(); err != nil {
		return status, err
	}
	d, err := m.Definition(ctx, id)
	if err != nil {
		return status, err
	}
	r := &run{of: d, status: RunStatus{Experiment: id, RunOptions: o, State: Running, Policies: d.Policies}}
	if o.On == OnNodes {
		if err := r.checkPlan(m.dir); err != nil {
			return status, err
		}
	}
	err = m.do(ctx, func() error {
		if err := m.room(o.On); err != nil {
			return err
		}
		m.lastID.run++
		r.status.ID, r.status.Begun = fmt.Sprint("run-", m.lastID.run), time.Now().UTC()
		m.runs = append(m.runs, r)
		m.launch(r)
		status = r.status
		return nil
	})
	return status, err
}

// room returns an error if too many runs are active, and removes an ended run if too many are stored.
func (m *Manager) room(on string) error {
	running := 0
	for _, r := range m.runs {
		if r.status.On == on && r.status.State == Running {
			running++
		}
	}
	if most := map[string]int{OnSimulator: maxSimulated, OnNodes: maxPlayed}[on]; running >= most {
		return fmt.Errorf("%w runs on the %s at once: %d (stop it, or wait)", ErrFull, on, running)
	}
	if len(m.runs) >= m.maxima.runs { // more than can be active, so one has ended
		i := slices.IndexFunc(m.runs, func(r *run) bool { return r.status.State != Running })
		m.runs = slices.Delete(m.runs, i, i+1)
	}
	return nil
}

// launch executes a run on a new goroutine.
func (m *Manager) launch(r *run) {
	ctx, cancel := context.WithCancel(m.ctx)
	r.cancel = cancel
	onNodes, dir := r.status.On == OnNodes, filepath.Join(m.dir, r.status.ID)
	m.active.Add(1)
	go func() {
		defer m.active.Done()
		defer cancel()
		var err error
		if onNodes {
			err = r.play(ctx, dir)
		} else {
			err = r.simulate(ctx)
		}
		m.over <- ended{r, err}
	}()
}

// finish sets the final state of a run.
func (m *Manager) finish(e ended) {
	st := &e.run.status
	st.Ended, st.State = time.Now().UTC(), Done
	switch {
	case errors.Is(e.err, context.Canceled):
		st.State = Stopped
	case e.err != nil:
		st.State, st.Error = Failed, e.err.Error()
	}
}

// Runs returns the status of all stored runs, the oldest first.
func (m *Manager) Runs(ctx context.Context) (out []RunStatus, err error) {
	err = m.do(ctx, func() error {
		for _, r := range m.runs {
			out = append(out, r.status)
		}
		return nil
	})
	return out, err
}

// run returns a run by ID, and a copy of its status.
func (m *Manager) run(ctx context.Context, id string) (r *run, status RunStatus, err error) {
	err = m.do(ctx, func() error {
		i := slices.IndexFunc(m.runs, func(r *run) bool { return r.status.ID == id })
		if i < 0 {
			return fmt.Errorf("%.100q: %w", id, ErrUnknown)
		}
		r, status = m.runs[i], m.runs[i].status
		return nil
	})
	return r, status, err
}

// Statistics returns the current results of a run.
func (m *Manager) Statistics(ctx context.Context, id string) (Statistics, error) {
	r, status, err := m.run(ctx, id)
	if err != nil {
		return Statistics{}, err
	}
	return Statistics{RunStatus: status, Results: r.snapshots()}, nil
}

// Reports returns the reports of a run's completed policies.
func (m *Manager) Reports(ctx context.Context, id string) ([]Report, error) {
	r, _, err := m.run(ctx, id)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.reports), nil
}

// Stop stops a run and returns its status before. The run ends a few seconds later if it is on nodes.
func (m *Manager) Stop(ctx context.Context, id string) (RunStatus, error) {
	r, status, err := m.run(ctx, id)
	if err != nil {
		return status, err
	}
	r.cancel()
	return status, nil
}
