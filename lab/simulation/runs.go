package simulation

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"text/tabwriter"
	"time"

	"godwit/internal/failure"
	"godwit/lab/progress"
	"godwit/lab/table"
	"godwit/sim"
	reports "godwit/sim/report"
)

// A result is one object of `godwit sim --json`.
type result struct {
	*sim.Report
	*cells
	*timing
}

// timing is what depends on the machine and its load.
type timing struct {
	WallS   float64 `json:"wall_s"`
	PerWall float64 `json:"events_per_s"`
}

func reportsOf(results []result) []*sim.Report {
	out := make([]*sim.Report, len(results))
	for i, r := range results {
		out[i] = r.Report
	}
	return out
}

// simulate runs a grid, and the oracle beside it if that is asked for.
func (f *Options) simulate(ctx context.Context, p *progress.Progress, grid []*sim.Scenario) ([]result, error) {
	all := grid
	var oracleOf []int // of each run: which run of all is the oracle's
	if f.Oracle {
		all, oracleOf = withOracles(grid)
	}
	results, err := f.runAll(ctx, p, all)
	if err != nil {
		return nil, err
	}
	for i, o := range oracleOf {
		best := results[o].UsefulS
		results[i].OracleUsefulS = &best
	}
	return results[:len(grid)], nil
}

// withOracles adds runs of the oracle, without migrations, to those of a grid:
// one for each seed.
func withOracles(grid []*sim.Scenario) (all []*sim.Scenario, oracleOf []int) {
	all = append(all, grid...)
	bySeed := map[uint64]int{}
	for i, s := range grid {
		if s.Placement == sim.Oracle && (s.Migration == "" || s.Migration == "none") {
			bySeed[s.Seed] = i
		}
	}
	for _, s := range grid {
		i, found := bySeed[s.Seed]
		if !found {
			best := *s
			best.Placement, best.Migration, best.Predictor, best.Fairness, best.Chunking = sim.Oracle, "none", "", "", ""
			i = len(all)
			bySeed[s.Seed] = i
			all = append(all, &best)
		}
		oracleOf = append(oracleOf, i)
	}
	return all, oracleOf
}

// runAll runs scenarios side by side and shows how far it is. When ctx ends it
// returns at once; a run cannot be stopped, and ends with the program.
func (f *Options) runAll(ctx context.Context, p *progress.Progress, all []*sim.Scenario) ([]result, error) {
	defer makeRoom()()
	var (
		results    = make([]result, len(all))
		errs       = make([]error, len(all))
		next, over atomic.Int64
		failed     atomic.Bool
		group      sync.WaitGroup
		done       = make(chan struct{})
		workers    = min(f.Workers, len(all))
	)
	work := func() {
		for ctx.Err() == nil && !failed.Load() {
			i := next.Add(1) - 1
			if int(i) >= len(all) {
				return
			}
			if results[i], errs[i] = f.runOne(all[i]); errs[i] != nil {
				failed.Store(true)
			}
			over.Add(1)
		}
	}
	for range workers {
		group.Go(work)
	}
	go func() { group.Wait(); close(done) }()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	defer p.Done()
	for {
		select {
		case <-tick.C:
			p.Show(progress.Runs(int(over.Load()), len(all), workers))
			continue
		case <-ctx.Done():
		case <-done:
			if err := errors.Join(errs...); err != nil || int(over.Load()) == len(all) {
				return results, err
			}
		}
		return nil, fmt.Errorf("interrupted after %d of %d runs", over.Load(), len(all))
	}
}

func (f *Options) runOne(s *sim.Scenario) (result, error) {
	var (
		r     *sim.Report
		c     *cells
		err   error
		begun = time.Now()
	)
	if f.Machines {
		r, c, err = f.runMachines(s)
	} else {
		r, err = sim.Run(s)
	}
	if errors.Is(err, sim.ErrWholeNodes) {
		return result{}, failure.Usage("add --machines", "%w", err)
	}
	if err != nil {
		return result{}, fmt.Errorf("policy %s, migration %s, seed %d: %w", s.Placement, s.Migration, s.Seed, err)
	}
	out := result{Report: r, cells: c}
	if f.Timing {
		wall := time.Since(begun).Seconds()
		out.timing = &timing{WallS: wall, PerWall: float64(r.Events) / wall}
	}
	return out, nil
}

// print writes results as JSON or as tables.
func (f *Options) print(w io.Writer, results []result, o reports.Options) error {
	if f.JSON {
		for _, r := range results {
			if err := table.JSON(w, r); err != nil {
				return err
			}
		}
		return nil
	}
	if err := reports.Table(w, reportsOf(results), o); err != nil {
		return err
	}
	if f.Cells > 0 {
		if err := printCells(w, results); err != nil {
			return err
		}
	}
	if !f.Timing {
		return nil
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\nPOLICY\tMIGRATION\tSEED\tEVENTS\tTOOK\tEVENTS/S")
	for _, r := range results {
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%s\t%.3g\n", r.Policy, r.Migration, r.Seed, r.Events, table.Seconds(r.WallS),
			r.PerWall)
	}
	return t.Flush()
}
