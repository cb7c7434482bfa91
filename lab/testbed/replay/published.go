package replay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"

	"godwit/internal/failure"
	"godwit/lab/testbed"
	"godwit/lab/testbed/plan"
	"godwit/scheduler/place"
)

// Published are the options of a run of all published policies, each on nodes of its own with a past.
type Published struct {
	testbed.Options
	Scenarios string  // directory of the policies' scenario files
	Speedup   float64 // of the replays
	AtOnce    int     // runs at once, 1 or more
}

// publishedFiles is the pattern of the scenario files.
const publishedFiles = "zhang-*.yaml"

// Run runs the scenarios, prints each decision with its forecast, and then a table of all policies. It fails if a policy
// decided without the forecast that it wanted.
func (o *Published) Run(ctx context.Context, out, log io.Writer) (err error) {
	if o.AtOnce < 1 {
		return failure.Usage("write --at-once 1", "--at-once %d: it takes 1 or more", o.AtOnce)
	}
	scenarios, err := filepath.Glob(filepath.Join(o.Scenarios, publishedFiles))
	if err != nil || len(scenarios) == 0 {
		return failure.Usage("name their directory with --scenarios, or run it in the project's directory",
			"no scenario files %s in %s", publishedFiles, o.Scenarios)
	}
	dir, remove, err := o.MakeDir()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	all, err := o.playAll(ctx, log, dir, scenarios)
	var reps runs
	for _, r := range all {
		reps = append(reps, r...)
	}
	if len(reps) == 0 {
		return err
	}
	return errors.Join(o.Tell(out, reps, reps.printPublished), reps.checkForecasts(), err)
}

// playAll plays the scenarios, some at once, and returns their reports in order.
func (o *Published) playAll(ctx context.Context, log io.Writer, dir string, scenarios []string) ([]runs, error) {
	p := o.NewProgress(log)
	all, errs := make([]runs, len(scenarios)), make([]error, len(scenarios))
	turns := make(chan struct{}, o.AtOnce)
	var wg sync.WaitGroup
	for i, file := range scenarios {
		turns <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		p.Note("%d of %d: %s", i+1, len(scenarios), name)
		wg.Go(func() {
			defer func() { <-turns }()
			s := Options{Options: o.Options, Plan: plan.Options{Scenario: file, Speedup: o.Speedup, Minutes: plan.Minutes,
				JobSize: plan.JobSize, Policy: place.Default, Migration: plan.NoMigration, Ends: plan.EndAsTraced}}
			s.Quiet = true // the runs would write into each other's lines
			if errs[i] = errors.Join(s.Options.Check(), s.Plan.Check()); errs[i] == nil {
				all[i], errs[i] = s.play(ctx, s.NewProgress(log), filepath.Join(dir, name))
			}
		})
	}
	wg.Wait()
	return all, errors.Join(append(errs, ctx.Err())...)
}

// printPublished writes the decisions of each run, and then the table.
func (reps runs) printPublished(w io.Writer) error {
	for _, rep := range reps {
		fmt.Fprintln(w, rep.name)
		rep.printHead(w)
		rep.printDecisions(w)
		fmt.Fprintln(w)
	}
	reps.printCounted(w)
	return nil
}

// checkForecasts returns an error if a policy decided without the forecast that it wanted.
func (reps runs) checkForecasts() error {
	for _, rep := range reps {
		if c := rep.Counted; c != nil && c.Fallback > 0 {
			return fmt.Errorf("%s: %d of %d decisions had no forecast, want 0 (the nodes may be too slow to gossip before the "+
				"first job: give a lower --speedup or --at-once 1)", rep.name, c.Fallback, c.Decisions)
		}
	}
	return nil
}
