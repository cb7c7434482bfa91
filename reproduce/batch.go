package reproduce

import (
	"errors"
	"fmt"

	"godwit/sim"
)

// RunAll runs scenarios of any simulator, as o.ForEach does, and returns what came of
// them in their order. The error joins those of the scenarios that failed, with their
// numbers.
func RunAll[S, R any](o *Options, scenarios []S, run func(S) (R, error)) ([]R, error) {
	reports, errs := make([]R, len(scenarios)), make([]error, len(scenarios))
	o.ForEach(len(scenarios), func(i int) {
		var err error
		if reports[i], err = run(scenarios[i]); err != nil {
			errs[i] = fmt.Errorf("scenario %d of %d: %w", i+1, len(scenarios), err)
		}
	})
	return reports, errors.Join(errs...)
}

// A Batch is scenarios of package sim that run side by side. What each is judged by
// waits until all have run, so that cells are in the order of the scenarios.
type Batch struct {
	bench     *Bench
	scenarios []*sim.Scenario
	judge     []func(*sim.Report)
}

// Batch returns an empty batch.
func (b *Bench) Batch() *Batch { return &Batch{bench: b} }

// Add takes a scenario, and what to do with its report once all have run.
func (r *Batch) Add(s *sim.Scenario, judge func(*sim.Report)) {
	r.scenarios = append(r.scenarios, s)
	r.judge = append(r.judge, judge)
}

// Run runs the scenarios and judges their reports, in the order in which they
// were added.
func (r *Batch) Run() error {
	reports, err := sim.RunAll(r.scenarios, r.bench.ForEach)
	if err != nil {
		return err
	}
	for i, report := range reports {
		r.judge[i](report)
	}
	return nil
}
