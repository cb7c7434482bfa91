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

// Execution environments of a run.
const (
	OnSimulator = "simulator"
	OnNodes     = "nodes" // real nodes on this machine
)

// The states of a run.
const (
	Running = "running"
	Done    = "done"
	Stopped = "stopped" // by a command, or by the end of the Manager
	Failed  = "failed"
)

// RunOptions configure a run. The zero value starts a run on the simulator.
type RunOptions struct {
	On   string `json:"on"`   // OnSimulator or OnNodes (default OnSimulator)
	Seed uint64 `json:"seed"` // seed of arrivals and node keys (default 1)
	// Speedup is scenario time per real time on nodes (default plan.Speedup). It is 0 on the simulator.
	Speedup float64 `json:"speedup"`
}

// check validates the options and sets defaults.
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

// ErrOptions is wrapped by the errors for invalid options and commands.
var ErrOptions = errors.New("options of the run")

// RunStatus describes a run and its state.
type RunStatus struct {
	ID         string `json:"id"`
	Experiment string `json:"experiment"`
	RunOptions
	State    string    `json:"state"`
	Error    string    `json:"error,omitempty"` // set if State is Failed
	Begun    time.Time `json:"begun"`
	Ended    time.Time `json:"ended,omitzero"` // zero while State is Running
	Policies []string  `json:"policies"`       // in execution order
}

// Statistics contains the current results of a run.
type Statistics struct {
	RunStatus
	// Results has one entry for each policy that has begun, in execution order.
	Results []measure.Snapshot `json:"results"`
}

// Report is the final report of a policy. Report.Report is the JSON of `godwit swarm classes` if the run was on nodes,
// else of `godwit sim`.
type Report struct {
	Policy string          `json:"policy"`
	Report json.RawMessage `json:"report"`
}

// run is a run of an experiment. Only the Manager's goroutine accesses status after the start.
type run struct {
	status RunStatus
	of     *Definition
	cancel context.CancelFunc

	mu      sync.Mutex
	begun   []func() measure.Snapshot // one per policy that has begun
	live    *replay.Live              // current policy's run on nodes; nil on the simulator and before the nodes start
	reports []Report
}

// policyBegins adds the next policy, whose current results snapshot returns.
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

// snapshots returns the current results of each policy that has begun.
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
