package replay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"

	"godwit/internal/failure"
	"godwit/lab/progress"
	"godwit/lab/testbed"
	"godwit/lab/testbed/plan"
	"godwit/scheduler/place"
)

// Policies are the options for a comparison of many policies. Each policy runs on its own nodes, which have a past.
type Policies struct {
	testbed.Options
	Scenarios fs.FS   // scenario files, and the traces that they name
	Defaults  bool    // each policy with its defaults, in place of the published policies
	Speedup   float64 // of the replays
	AtOnce    int     // runs at once, 1 or more
}

// The scenario files of published policies, and those of policies with their defaults.
const (
	publishedFiles = "zhang-*.yaml"
	defaultFiles   = "defaults-*.yaml"
)

// Run runs the scenarios. Of published policies it prints each decision with its forecast and then a table of all
// policies, and fails if a policy decided without the forecast that it wanted. Of policies with their defaults it prints
// a table beside FCFS, and fails if one is too slow or moves too often.
func (o *Policies) Run(ctx context.Context, out, log io.Writer) (err error) {
	if o.AtOnce < 1 {
		return failure.Usage("write --at-once 1", "--at-once %d: it takes 1 or more", o.AtOnce)
	}
	if err := o.Check(); err != nil {
		return err
	}
	dir, remove, err := o.MakeDir()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	rounds, err := o.rounds(dir)
	if err != nil {
		return err
	}
	reps, err := o.playAll(ctx, o.NewProgress(log), rounds)
	if len(reps) == 0 {
		return err
	}
	if o.Defaults {
		return errors.Join(o.Tell(out, reps, reps.printDefaults), reps.checkDefaults(), err)
	}
	return errors.Join(o.Tell(out, reps, reps.printPublished), reps.checkForecasts(), err)
}

// A round is a plan with the options that it was made by, and the directory of its nodes.
type round struct {
	options Options
	plan    *plan.Plan
	dir     string
}

// rounds makes the plans of all scenarios. The scenario files are copied below dir, where users find what was run.
func (o *Policies) rounds(dir string) (out []round, err error) {
	pattern := publishedFiles
	if o.Defaults {
		pattern = defaultFiles
	}
	names, err := fs.Glob(o.Scenarios, pattern)
	if err != nil || len(names) == 0 {
		return nil, failure.Usage("name a directory that has some with --scenarios", "there are no scenario files %s", pattern)
	}
	files := filepath.Join(dir, "scenarios")
	if err := os.RemoveAll(files); err != nil {
		return nil, fmt.Errorf("making room for the scenario files: %w", err)
	}
	if err := os.CopyFS(files, o.Scenarios); err != nil {
		return nil, fmt.Errorf("copying the scenario files: %w", err)
	}
	for _, file := range names {
		s := Options{Options: o.Options, Plan: plan.Options{Scenario: filepath.Join(files, file), Speedup: o.Speedup,
			Minutes: plan.Minutes, JobSize: plan.JobSize, Policy: place.Default, Migration: plan.NoMigration,
			Ends: plan.EndAsTraced}}
		s.Quiet = true // the runs would write into each other's lines
		if err := s.Plan.Check(); err != nil {
			return nil, err
		}
		plans, err := s.Plan.Plans(s.Nodes, s.Cores, s.Seed)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		for i, p := range plans {
			out = append(out, round{s, p, runDir(filepath.Join(dir, strings.TrimSuffix(path.Base(file), ".yaml")), plans, i)})
		}
	}
	return out, nil
}

// playAll plays the rounds, some at once, and returns the reports of those that ended well, in order.
func (o *Policies) playAll(ctx context.Context, p *progress.Progress, rounds []round) (runs, error) {
	all, errs := make(runs, len(rounds)), make([]error, len(rounds))
	turns := make(chan struct{}, o.AtOnce)
	var wg sync.WaitGroup
	for i, r := range rounds {
		turns <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		p.Note("%d of %d: %s", i+1, len(rounds), r.plan.Name())
		wg.Go(func() {
			defer func() { <-turns }()
			all[i], errs[i] = r.options.playPlan(ctx, r.options.NewProgress(io.Discard), r.dir, r.plan)
			if errs[i] != nil {
				errs[i] = fmt.Errorf("%s: %w", r.plan.Name(), errs[i])
			}
		})
	}
	wg.Wait()
	var reps runs
	for _, rep := range all {
		if rep != nil {
			reps = append(reps, rep)
		}
	}
	return reps, errors.Join(append(errs, ctx.Err())...)
}
