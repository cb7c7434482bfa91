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
	MaxRuns        = 100 // that are kept; the oldest that has ended goes first
	// maxSimulated is the number of simulated runs at once, and maxPlayed of those on real nodes.
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

// A Manager owns experiments and their runs. Its goroutine is Run's. Its methods may be called by any goroutine, and
// return ErrClosed after Run has ended.
type Manager struct {
	dir      string // of the runs on real nodes
	requests chan func()
	over     chan ended
	closed   chan struct{}

	// What follows is of Run's goroutine.
	definitions []*Definition
	runs        []*run
	lastID      struct{ definition, run int }
	active      sync.WaitGroup
	ctx         context.Context // of the runs
}

// ended is a run's end.
type ended struct {
	run *run
	err error
}

// New returns a Manager whose runs on real nodes keep their data below dir.
func New(dir string) *Manager {
	return &Manager{dir: dir, requests: make(chan func()), over: make(chan ended), closed: make(chan struct{})}
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

// do calls f on Run's goroutine.
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
	<-done // f takes microseconds
	return err
}

// Define checks an experiment and keeps it.
func (m *Manager) Define(ctx context.Context, s Source) (*Definition, error) {
	d, err := Decode(s)
	if err != nil {
		return nil, err
	}
	err = m.do(ctx, func() error {
		if len(m.definitions) >= MaxDefinitions {
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

// Definitions lists the experiments, in the order in which they were defined. They are not changed.
func (m *Manager) Definitions(ctx context.Context) (out []*Definition, err error) {
	err = m.do(ctx, func() error { out = slices.Clone(m.definitions); return nil })
	return out, err
}

// Definition returns an experiment by its ID.
func (m *Manager) Definition(ctx context.Context, id string) (d *Definition, err error) {
	err = m.do(ctx, func() (err error) { d, err = m.find(id); return err })
	return d, err
}

// find finds an experiment on Run's goroutine.
func (m *Manager) find(id string) (*Definition, error) {
	i := slices.IndexFunc(m.definitions, func(d *Definition) bool { return d.ID == id })
	if i < 0 {
		return nil, fmt.Errorf("%.100q: %w", id, ErrUnknown)
	}
	return m.definitions[i], nil
}

// Delete forgets an experiment. Its runs remain.
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

// Start starts a run of an experiment.
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

// room makes room for a run, or refuses it.
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
	if len(m.runs) >= MaxRuns { // those that run are fewer
		i := slices.IndexFunc(m.runs, func(r *run) bool { return r.status.State != Running })
		m.runs = slices.Delete(m.runs, i, i+1)
	}
	return nil
}

// launch starts a run's goroutine.
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

// finish notes that a run has ended.
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

// Runs lists the runs, the oldest first.
func (m *Manager) Runs(ctx context.Context) (out []RunStatus, err error) {
	err = m.do(ctx, func() error {
		for _, r := range m.runs {
			out = append(out, r.status)
		}
		return nil
	})
	return out, err
}

// run finds a run, and its status now.
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

// Statistics returns what a run has come to so far.
func (m *Manager) Statistics(ctx context.Context, id string) (Statistics, error) {
	r, status, err := m.run(ctx, id)
	if err != nil {
		return Statistics{}, err
	}
	return Statistics{RunStatus: status, Results: r.snapshots()}, nil
}

// Reports returns the reports of the policies that are over.
func (m *Manager) Reports(ctx context.Context, id string) ([]Report, error) {
	r, _, err := m.run(ctx, id)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.reports), nil
}

// Stop stops a run. It returns before the run has ended, which takes some seconds with real nodes.
func (m *Manager) Stop(ctx context.Context, id string) (RunStatus, error) {
	r, status, err := m.run(ctx, id)
	if err != nil {
		return status, err
	}
	r.cancel()
	return status, nil
}
