package experiment

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"godwit/lab/testbed/measure"
	"godwit/lab/testbed/plan"
	"godwit/lab/testbed/replay"
)

// What a run is on.
const (
	OnSimulator = "simulator"
	OnNodes     = "nodes" // real nodes of this machine
)

// The states of a run.
const (
	Running = "running"
	Done    = "done"
	Stopped = "stopped" // by a command, or with the Manager
	Failed  = "failed"
)

// RunOptions are those of a run. The zero value is of a run on the simulator.
type RunOptions struct {
	On   string `json:"on"`   // OnSimulator or OnNodes; "" is OnSimulator
	Seed uint64 `json:"seed"` // of the arrivals and the nodes' keys; 0 is 1
	// Speedup is the number of seconds of the scenario in a real one, of real nodes; 0 is plan.Speedup.
	Speedup float64 `json:"speedup"`
}

// check refuses what no run can be, and fills in what is 0.
func (o *RunOptions) check() error {
	if o.On == "" {
		o.On = OnSimulator
	}
	if o.Seed == 0 {
		o.Seed = 1
	}
	switch {
	case o.On != OnSimulator && o.On != OnNodes:
		return fmt.Errorf("%w: on %.50q: it is %s or %s", ErrOptions, o.On, OnSimulator, OnNodes)
	case o.On == OnSimulator && o.Speedup != 0:
		return fmt.Errorf("%w: only real nodes have a speedup", ErrOptions)
	case math.IsNaN(o.Speedup) || o.Speedup != 0 && (o.Speedup < 1 || o.Speedup > plan.MaxSpeedup):
		return fmt.Errorf("%w: speedup %v: it is 1 to %d", ErrOptions, o.Speedup, plan.MaxSpeedup)
	}
	if o.On == OnNodes && o.Speedup == 0 {
		o.Speedup = plan.Speedup
	}
	return nil
}

// ErrOptions is wrapped by the errors of options that no run can have.
var ErrOptions = errors.New("options of the run")

// A RunStatus is a run and how far it is.
type RunStatus struct {
	ID         string `json:"id"`
	Experiment string `json:"experiment"`
	RunOptions
	State    string    `json:"state"`
	Error    string    `json:"error,omitempty"` // why it failed
	Begun    time.Time `json:"begun"`
	Ended    time.Time `json:"ended,omitzero"` // absent while it runs
	Policies []string  `json:"policies"`       // in the order in which they run
}

// Statistics are what a run has come to so far.
type Statistics struct {
	RunStatus
	// Results are those of the policies that have begun, in their order.
	Results []measure.Snapshot `json:"results"`
}

// A Report is what came of a policy: of real nodes the JSON of `godwit swarm classes`, else that of `godwit sim`.
type Report struct {
	Policy string          `json:"policy"`
	Report json.RawMessage `json:"report"`
}

// A run is one run of an experiment. Its status is the Manager's.
type run struct {
	status RunStatus
	of     *Definition
	cancel context.CancelFunc

	mu      sync.Mutex
	begun   []func() measure.Snapshot // of the policies that have begun
	live    *replay.Live              // of the policy whose real nodes run; nil: none have yet
	reports []Report
}

// policyBegins adds a policy, with what returns its state.
func (r *run) policyBegins(snapshot func() measure.Snapshot, live *replay.Live) {
	r.mu.Lock()
	defer r.mu.Unlock()
	name := r.of.Policies[len(r.begun)]
	r.live = live
	r.begun = append(r.begun, func() measure.Snapshot {
		s := snapshot()
		s.Policy = name
		return s
	})
}

// snapshots returns the state of each policy that has begun.
func (r *run) snapshots() []measure.Snapshot {
	r.mu.Lock()
	begun := append([]func() measure.Snapshot(nil), r.begun...)
	r.mu.Unlock()
	out := make([]measure.Snapshot, 0, len(begun))
	for _, snapshot := range begun {
		out = append(out, snapshot())
	}
	return out
}

func (r *run) report(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encoding the report: %w", err)
	}
	r.addReport(text)
	return nil
}

func (r *run) addReport(text json.RawMessage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reports = append(r.reports, Report{Policy: r.of.Policies[len(r.reports)], Report: text})
}
