package scenario

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"godwit/scheduler/place"
	"godwit/sim"
	"godwit/trace"
)

// Limits of one experiment. They bound a mistaken file, not a patient person:
// each run takes a second or more.
const (
	MaxSpecs = 1000   // policies of a kind
	MaxSeeds = 10_000 // runs of each pair of policies
	MaxRuns  = 100_000
)

// An Experiment is what a file describes: runs of every placement policy with
// every migration policy and every seed, all else equal.
type Experiment struct {
	Source Source
	// Base is what all runs share. Its Placement, Migration and Seed are not
	// looked at; its Trace is the one of Source.
	Base sim.Scenario

	Placements []string // as sim.Scenario.Placement, at least one
	Migrations []string // as sim.Scenario.Migration, at least one
	// Seeds are of the runs, all different, at least one. A seed decides what a
	// workload draws (arrivals by Poisson, work by a law) and what a policy
	// draws; with Source.Resample it decides the hosts too. Where nothing is
	// drawn, runs that differ in their seed only are equal.
	Seeds []uint64

	places map[string]position // of a file
	file   string
}

// A Source is where the hosts come from.
type Source struct {
	File string // a trace's file; "" for a synthetic set
	// Kind and Config make a synthetic set: see trace.Synthesize.
	Kind   string
	Config trace.SynthConfig
	// Machines, if not nil, are the hosts, for Config.Days (0 is 7) and by
	// Config.Seed in place of their own.
	Machines *sim.Machines
	// Resample makes the set anew for each run, from the run's seed instead of
	// Config.Seed.
	Resample bool
	// First keeps that many hosts of a file, in its order; 0 keeps all.
	First int
	// Assume is what hosts did while nobody looked. trace.Unobserved leaves it
	// open: they are not used then, and predictors learn nothing of it.
	Assume trace.State
}

// Default is an experiment without hosts and workload, under the rules of the
// live swarm, but for two that are easier to compare by: no running task moves, and
// checkpoints come every 30 seconds. They are kept
// elsewhere and stop a task for 10 ms each 64 MiB (docs/SANDBOX.md). Besides: the grace of owner.Default, a
// vanished host missed after scheduler.Config's lease of 10 seconds. 25 ms one
// way are a round trip of 50 ms, as between homes of one continent.
func Default() *Experiment {
	return &Experiment{
		Source:     Source{Config: trace.SynthConfig{Seed: 1}, Assume: trace.Unavailable},
		Placements: []string{place.Default},
		Migrations: []string{"none"},
		Seeds:      []uint64{1},
		Base: sim.Scenario{
			Workload:    sim.Workload{Requeue: true},
			Hosts:       sim.HostRules{Grace: 10 * time.Minute},
			Network:     sim.Network{Delay: 25 * time.Millisecond, Detect: 10 * time.Second},
			Checkpoints: sim.Checkpoints{Every: 30 * time.Second, Pause: 10 * time.Millisecond, Away: true},
		},
	}
}

// Use makes t, as it was read, the hosts of the experiment: it applies First and
// Assume. It does not change t.
func (e *Experiment) Use(t *trace.Trace) {
	if n := e.Source.First; n > 0 && n < len(t.Hosts) {
		some := *t
		some.Hosts = t.Hosts[:n:n]
		t = &some
	}
	if e.Source.Assume != trace.Unobserved {
		t = t.Assume(e.Source.Assume)
	}
	e.Base.Trace = t
}

// SetDays ends the runs so many days after their start, or with a trace whose
// last day is not a whole one. The experiment must have its hosts and its start.
func (e *Experiment) SetDays(days int) {
	const day = 24 * time.Hour
	end := e.Base.Day0().Add(time.Duration(days) * day)
	if last := e.Base.Trace.End; end.After(last) && end.Sub(last) < day {
		end = last
	}
	e.Base.End = end
}

// Synthesize makes the set of Source and uses it.
func (e *Experiment) Synthesize() error {
	if m := e.Source.Machines; m != nil {
		return e.make(*m)
	}
	t, err := trace.Synthesize(e.Source.Kind, e.Source.Config)
	if err != nil {
		return err
	}
	e.Use(t)
	return nil
}

// machineDays is how long machines are made for, where nothing is said, and
// machineStart from when on: any midnight would do.
const machineDays = 7

var machineStart = time.Date(2008, 1, 1, 0, 0, 0, 0, time.UTC)

// make makes machines and uses them.
func (e *Experiment) make(m sim.Machines) error {
	m.Seed = e.Source.Config.Seed
	t, err := m.Trace(machineStart, time.Duration(cmp.Or(e.Source.Config.Days, machineDays))*24*time.Hour)
	if err == nil {
		e.Use(t)
	}
	return err
}

// Grid lays out the runs: by placement, then by migration, then by seed, each in
// the order given. Runs share their traces. It checks every run; errors of a
// file are *task.Error.
func (e *Experiment) Grid() ([]*sim.Scenario, error) {
	if err := e.check(); err != nil {
		return nil, err
	}
	traces, err := e.traces()
	if err != nil {
		return nil, err
	}
	var grid []*sim.Scenario
	for _, p := range e.Placements {
		for _, m := range e.Migrations {
			for k, seed := range e.Seeds {
				s := e.Base
				s.Placement, s.Migration, s.Seed, s.Trace = p, m, seed, traces[k]
				if k == 0 || e.Source.Resample {
					if err := s.Validate(); err != nil {
						return nil, e.invalid(err)
					}
				}
				grid = append(grid, &s)
			}
		}
	}
	return grid, nil
}

// check refuses grids that are empty or too large.
func (e *Experiment) check() error {
	switch {
	case e.Base.Trace == nil:
		return errors.New("the experiment has no hosts")
	case len(e.Placements) == 0 || len(e.Migrations) == 0 || len(e.Seeds) == 0:
		return errors.New("the experiment has no runs: it needs a placement policy, a migration policy and a seed")
	case len(e.Placements) > MaxSpecs || len(e.Migrations) > MaxSpecs || len(e.Seeds) > MaxSeeds ||
		len(e.Placements)*len(e.Migrations)*len(e.Seeds) > MaxRuns:
		return fmt.Errorf("%d placement and %d migration policies with %d seeds: an experiment has at most %d runs",
			len(e.Placements), len(e.Migrations), len(e.Seeds), MaxRuns)
	}
	return nil
}

// traces returns the hosts of each seed's run.
func (e *Experiment) traces() ([]*trace.Trace, error) {
	out := make([]*trace.Trace, len(e.Seeds))
	for i, seed := range e.Seeds {
		if out[i] = e.Base.Trace; !e.Source.Resample {
			continue
		}
		own := Experiment{Source: e.Source}
		own.Source.Config.Seed = seed
		if err := own.Synthesize(); err != nil {
			return nil, err
		}
		out[i] = own.Base.Trace
	}
	return out, nil
}
