package scenario

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"godwit/internal/yamlfile"
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
// every migration policy, every policy of shares, every one of chunks and every seed,
// all else equal.
type Experiment struct {
	Source Source
	// Base is what all runs share. Its policies and Seed are not
	// looked at; its Trace is the one of Source.
	Base sim.Scenario

	Placements []string // as sim.Scenario.Placement, at least one
	Migrations []string // as sim.Scenario.Migration, at least one
	Fairnesses []string // as sim.Scenario.Fairness; none is the usual alone
	Chunkings  []string // as sim.Scenario.Chunking, likewise
	// Seeds are of the runs, all different, at least one. A seed decides what a
	// workload draws (arrivals by Poisson, work by a law) and what a policy
	// draws; with Source.Resample it decides the hosts too. Where nothing is
	// drawn, runs that differ in their seed only are equal.
	Seeds []uint64
	// Published are the figures that a publication has of runs with imposed rates, for
	// who prints them beside what is obtained. Nothing else follows from them.
	Published []Published

	// Owners, with Sites, are the hosts in place of Source, and their owners; Load and
	// Seed are not looked at. Each of Loads, at least one with Sites, is of runs of its
	// own. Speedup is how many times as fast real nodes play it; 0: it does not say.
	// Coordinators is how many of them hold the ledger; 0 is overlay.DefaultGroup.
	Owners  sim.Owners
	Loads   []Load
	Speedup float64

	Coordinators int

	// Past is the time before the start of which real nodes have a history; 0 means none. Simulated hosts always know the
	// days of the trace before the start.
	Past time.Duration

	places map[string]yamlfile.Position // of a file
	file   string
}

// Published is what a publication has of a placement policy.
type Published struct {
	Placement string // one of Experiment.Placements
	// Response are mean response times in units of the rates: of each class of the
	// workload, in its order, and at last of all. 0 is one that is not given, as
	// of a system that is not stable.
	Response []float64
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
// elsewhere and stop a task for 10 ms each 64 MiB (docs/measured.md). Besides: the grace of owner.Default, a
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

// Grid lays out the runs: by placement, then by migration, by fairness, by chunking
// and by seed, each in the order given. Runs share their traces. It checks every run; errors of a
// file are *task.Error.
func (e *Experiment) Grid() ([]*sim.Scenario, error) {
	if err := errors.Join(e.noGrid(), e.check()); err != nil {
		return nil, err
	}
	traces, err := e.traces()
	if err != nil {
		return nil, err
	}
	var grid []*sim.Scenario
	for _, p := range e.policies() {
		for k, seed := range e.Seeds {
			s := e.Base
			s.Placement, s.Migration, s.Fairness, s.Chunking, s.Seed, s.Trace = p[0], p[1], p[2], p[3], seed, traces[k]
			if k == 0 || e.Source.Resample {
				if err := s.Validate(); err != nil {
					return nil, e.invalid(err)
				}
			}
			grid = append(grid, &s)
		}
	}
	return grid, nil
}

// policies are all that are to be combined: placement, migration, fairness, chunking.
func (e *Experiment) policies() (out [][4]string) {
	for _, p := range e.Placements {
		for _, m := range e.Migrations {
			for _, f := range orUsual(e.Fairnesses) {
				for _, c := range orUsual(e.Chunkings) {
					out = append(out, [4]string{p, m, f, c})
				}
			}
		}
	}
	return out
}

// orUsual is the usual policy where none is listed.
func orUsual(list []string) []string {
	if len(list) == 0 {
		return []string{""}
	}
	return list
}

// check refuses grids that are empty or too large.
func (e *Experiment) check() error {
	switch {
	case e.Base.Trace == nil:
		return errors.New("the experiment has no hosts")
	case len(e.Placements) == 0 || len(e.Migrations) == 0 || len(e.Seeds) == 0:
		return errors.New("the experiment has no runs: it needs a placement policy, a migration policy and a seed")
	case max(len(e.Placements), len(e.Migrations), len(e.Fairnesses), len(e.Chunkings)) > MaxSpecs ||
		len(e.Seeds) > MaxSeeds || e.runs() > MaxRuns:
		return fmt.Errorf("%d placement, %d migration, %d fairness and %d chunking policies with %d seeds: an experiment "+
			"has at most %d runs",
			len(e.Placements), len(e.Migrations), len(orUsual(e.Fairnesses)), len(orUsual(e.Chunkings)), len(e.Seeds), MaxRuns)
	}
	return nil
}

// runs is how many runs there are; it is no whole number where that is too large.
func (e *Experiment) runs() float64 {
	n := float64(len(e.Seeds))
	for _, list := range [][]string{e.Placements, e.Migrations, orUsual(e.Fairnesses), orUsual(e.Chunkings)} {
		n *= float64(len(list))
	}
	return n
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

// A Load is work of higher priority that a run has, and what was published of it.
type Load struct {
	sim.Load
	// Published has, by fairness policy as the file writes it, what its jobs came to.
	Published map[string]PublishedJobs
}

// PublishedJobs is what somebody found of equal jobs that ran together, in the order of
// the jobs; nil where it is not known.
type PublishedJobs struct {
	Throughput []float64 // tasks a second
	Preempted  []float64 // runs that higher priority ended
}

// noGrid says why an experiment has no runs for a simulator.
func (e *Experiment) noGrid() error {
	switch {
	case len(e.Owners.Sites) > 0:
		return e.at("sites", "run it on real nodes: `godwit swarm sites --scenario FILE`",
			"sites and their loads are not simulated")
	case e.Speedup != 0:
		return e.at("speedup", "leave it out, or give `sites`", "only real nodes have a pace")
	case e.Coordinators != 0:
		return e.at("coordinators", "leave it out, or give `sites`", "how many coordinate is not simulated")
	}
	return nil
}

// OwnersOf makes what the owners of the sites do in a run under a load of Loads.
func (e *Experiment) OwnersOf(load int, seed uint64, length time.Duration) (*trace.Trace, error) {
	o := e.Owners
	o.Load, o.Seed = e.Loads[load].Load, seed
	return o.Trace(machineStart, length)
}
