// Package replay lets nodes come and go as the hosts of a trace do, and reports as the simulator does.
package replay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"godwit/lab/files"
	"godwit/lab/progress"
	"godwit/lab/testbed"
	"godwit/lab/testbed/measure"
	"godwit/lab/testbed/plan"
	"godwit/sim/scenario"
)

// Options are those of a replay.
type Options struct {
	testbed.Options
	Plan plan.Options
	// Foretell has the peers that jobs are handed to asked when they would end, before.
	Foretell bool
	// Follow, if not nil, is called at the start of each policy's run. Only runs of a test-bed call it.
	Follow func(*Live)
}

// Played is the outcome of a policy.
type Played struct {
	Policy string
	Report json.RawMessage // output of `godwit swarm classes --json`
}

// Play runs the scenario's policies one after the other, with their data in dir. If it fails, it returns the outcomes
// of the completed policies.
func (s *Options) Play(ctx context.Context, log io.Writer, dir string) (all []Played, err error) {
	if err := errors.Join(s.Options.Check(), s.Plan.Check()); err != nil {
		return nil, err
	}
	reps, err := s.play(ctx, s.NewProgress(log), dir)
	for _, rep := range reps {
		text, e := json.Marshal(rep)
		if e != nil {
			return all, errors.Join(err, fmt.Errorf("encoding the report: %w", e))
		}
		all = append(all, Played{Policy: rep.Swarm.Policy, Report: text})
	}
	return all, err
}

// Run plays the trace on real nodes, and ends them, whatever happens.
func (s *Options) Run(ctx context.Context, out, log io.Writer) (err error) {
	if err := errors.Join(s.Options.Check(), s.Plan.Check()); err != nil {
		return err
	}
	dir, remove, err := s.MakeDir()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	reps, err := s.play(ctx, s.NewProgress(log), dir)
	if len(reps) == 0 {
		return err
	}
	return errors.Join(s.tellAll(out, reps), err)
}

// play plays each plan below dir. With an error, it returns the reports of the plans before.
func (s *Options) play(ctx context.Context, p *progress.Progress, dir string) (reps runs, err error) {
	plans, err := s.Plan.Plans(s.Nodes, s.Cores, s.Seed)
	if err != nil {
		return nil, err
	}
	for i, plan := range plans {
		if len(plans) > 1 {
			p.Note("%d of %d: %s", i+1, len(plans), plan.Name())
		}
		rep, err := s.playPlan(ctx, p, runDir(dir, plans, i), plan)
		if err != nil {
			return reps, err
		}
		reps = append(reps, rep)
	}
	return reps, nil
}

// runDir is where a plan is played: below the swarm's directory, one beside the
// other where there are several.
func runDir(dir string, plans []*plan.Plan, i int) string {
	if len(plans) == 1 {
		return dir
	}
	name := strings.Map(func(r rune) rune {
		if r == '-' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' {
			return r
		}
		return '_'
	}, strings.ReplaceAll(plans[i].Name(), ", ", "-"))
	return filepath.Join(dir, fmt.Sprintf("%d-%.60s", i+1, name))
}

// tellAll writes the reports where they are wanted.
func (s *Options) tellAll(out io.Writer, reps runs) error {
	if s.Report != "" {
		if err := files.Write(s.Report, reps.writeJSON); err != nil {
			return fmt.Errorf("writing the report: %w", err)
		}
	}
	if s.JSON {
		return reps.writeJSON(out)
	}
	return reps.print(out)
}

// playPlan plays one plan below dir.
func (s *Options) playPlan(ctx context.Context, p *progress.Progress, dir string, plan *plan.Plan) (*report, error) {
	f := &s.Plan
	r, err := newReplay(ctx, p, dir, plan, f.Ends, s.NodeArgs())
	if err != nil {
		return nil, err
	}
	r.foretells = s.Foretell
	rep, err := s.replayed(ctx, r, p, dir)
	if err != nil || !f.CompareSim {
		return rep, err
	}
	simulator, err := r.simulated()
	if err != nil {
		return nil, fmt.Errorf("simulating the same: %w", err)
	}
	rep.compared(simulator)
	return rep, nil
}

// replayed plays, and reads what came of it.
func (s *Options) replayed(ctx context.Context, r *replay, p *progress.Progress, dir string) (rep *report, err error) {
	defer func() { err = errors.Join(err, r.stop()) }()
	if r.plan.Bed != nil {
		if err := r.gather(ctx, p); err != nil {
			return nil, err
		}
	}
	var live *Live
	if s.Follow != nil && r.plan.Bed != nil {
		live = r.follow()
		s.Follow(live)
		defer live.end()
	}
	if err := r.run(ctx, p, live); err != nil {
		return nil, err
	}
	if live != nil {
		live.end()
	}
	p.Note("reading what came of the jobs")
	jobs, err := r.jobs(ctx)
	if err != nil {
		return nil, err
	}
	if err := r.measureDelay(ctx); err != nil {
		return nil, err
	}
	if live != nil {
		live.take(jobs)
	}
	m := r.measuredRun(jobs)
	tasks, err := measure.Tasks(m)
	if err != nil {
		return nil, fmt.Errorf("measuring the tasks: %w", err)
	}
	if s.Dir != "" {
		if err := errors.Join(r.keep(dir, jobs), measure.Export(dir, m, tasks)); err != nil {
			return nil, err
		}
	}
	f := &s.Plan
	rep = &report{Nodes: len(r.players), Speedup: f.Speedup, Minutes: r.minutes(), FromS: f.From.Seconds(),
		Seed: s.Seed, Jobs: len(r.plan.Jobs), Starts: r.startsOf(), DelayS: r.delay.Seconds(), Swarm: r.count(jobs),
		Published: r.plan.Published, name: r.plan.Name()}
	rep.Foretold = r.came(jobs)
	if r.plan.Past != nil {
		rep.Past, rep.PastSource = scenario.PastText(s.Plan.Past), r.plan.PastSource
		rep.Decisions = r.decisions()
		rep.Counted = r.countDecisions(rep.Decisions, jobs, rep.Swarm.Succeeded)
	}
	if r.plan.Bed != nil {
		r.overhead = r.plan.Bed.OverheadOf(m, tasks)
		rep.OverheadS = r.overhead.Seconds()
		rep.measure(m, tasks)
	}
	for _, j := range r.plan.Jobs {
		rep.WorkS += j.Work.Seconds() * float64(j.Tasks)
	}
	for _, h := range r.plan.Scenario.Trace.Hosts {
		rep.Names = append(rep.Names, h.History.Host)
	}
	for _, h := range r.handed {
		if h.err != nil && !gone(h.err) && !errors.Is(h.err, context.DeadlineExceeded) {
			p.Note("handing in a job: %v", h.err)
		}
		if h.err != nil || h.peer < 0 {
			rep.Lost++
		}
	}
	return rep, nil
}
