package experiment

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"godwit/lab/testbed"
	"godwit/lab/testbed/plan"
	"godwit/lab/testbed/replay"
	"godwit/node"
)

// scenarioFile is the name of the scenario in a run's directory.
const scenarioFile = "scenario.yaml"

// play runs each policy on real nodes, and removes their directory at the end.
func (r *run) play(ctx context.Context, dir string) (err error) {
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	o, err := r.nodeOptions(dir)
	if err != nil {
		return err
	}
	o.Follow = func(l *replay.Live) { r.policyBegins(l.Snapshot, l) }
	all, err := o.Play(ctx, io.Discard, filepath.Join(dir, "nodes"))
	for _, p := range all {
		r.addReport(p.Report)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// nodeOptions writes the scenario and its other files to dir, and returns the options of a run on nodes.
func (r *run) nodeOptions(dir string) (*replay.Options, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the run's directory: %w", err)
	}
	files := map[string]string{scenarioFile: r.of.Scenario}
	for name, text := range r.of.Files {
		files[name] = text
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return nil, fmt.Errorf("writing the run's files: %w", err)
		}
	}
	o := &replay.Options{Plan: plan.ForClasses(filepath.Join(dir, scenarioFile))}
	o.Options = testbed.Options{Cores: 1, Runner: node.RunSleep, Seed: r.status.Seed, Quiet: true}
	o.Plan.Speedup = r.status.Speedup
	return o, nil
}

// checkPlan returns an error if real nodes cannot run the scenario. It creates and removes a directory in parent,
// because plans are read from files.
func (r *run) checkPlan(parent string) (err error) {
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return fmt.Errorf("making the runs' directory: %w", err)
	}
	dir, err := os.MkdirTemp(parent, "check-")
	if err != nil {
		return fmt.Errorf("making a directory: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	o, err := r.nodeOptions(dir)
	if err != nil {
		return err
	}
	_, err = o.Plan.Plans(0, o.Cores, o.Seed)
	return err
}
