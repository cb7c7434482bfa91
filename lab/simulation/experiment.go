package simulation

import (
	"math"
	"slices"
	"time"

	"godwit/internal/failure"
	"godwit/internal/spec"
	"godwit/lab/files"
	"godwit/lab/traces"
	"godwit/sim"
	"godwit/sim/scenario"
	"godwit/trace"
)

// An Experiment describes an experiment with one class of tasks. What they
// leave out a scenario file can say.
type Experiment struct {
	Trace    traces.Source
	Path     string // of the trace's file; "" for one that is made
	Assume   string // what hosts did while nobody looked
	Resample bool   // hosts are made anew for each run

	PolicyOptions
	WorkOptions
	HostOptions

	Network     sim.Network
	Up, Down    int64 // bytes a second; 0: no bound
	Checkpoints sim.Checkpoints
}

// PolicyOptions say what is compared; lists have commas between their parts.
type PolicyOptions struct {
	Policies, Migrations, Predictor string
	Fairness, Chunking              string
	Runs                            int
	Warmup                          time.Duration
	Paper, ScanAll                  bool
}

// WorkOptions say what comes.
type WorkOptions struct {
	Size, Arrival    time.Duration
	Law, Log         string
	Poisson, Requeue bool
	Gaps             string
	Tasks            int
	Memory, State    int64 // bytes
}

// HostOptions say what hosts do with it.
type HostOptions struct {
	Slots, Ahead           int
	HostMemory             int64 // bytes; 0: as much as is asked for
	Sharing, Speeds, Owner string
	Grace                  time.Duration
}

// The names of what flags choose from, in the order of sim's values.
var (
	Sharing = []string{"queue", "share"}
	Speeds  = []string{"uniform", "traced"}
	Owners  = []string{"suspend", "kill"}
)

// read reads or makes the trace and sets what the flags say.
func (f *Experiment) read() (*scenario.Experiment, error) {
	e := scenario.Default()
	if err := f.policy(e); err != nil {
		return nil, err
	}
	if err := f.host(&e.Base.Hosts); err != nil {
		return nil, err
	}
	if err := f.source(&e.Source); err != nil {
		return nil, err
	}
	b := &e.Base
	b.Warmup, b.Paper, b.ScanAll = f.Warmup, f.Paper, f.ScanAll
	b.Network, b.Checkpoints = f.Network, f.Checkpoints
	b.Network.Upload, b.Network.Download = float64(f.Up), float64(f.Down)
	if err := f.workload(&b.Workload); err != nil {
		return nil, err
	}
	t, err := f.Trace.Load(f.Path)
	if err != nil {
		return nil, err
	}
	e.Use(t)
	if f.Path != "" && f.Trace.Days > 0 {
		e.SetDays(f.Trace.Days)
	}
	return e, nil
}

// policy sets the policies and the seeds.
func (f *Experiment) policy(e *scenario.Experiment) error {
	e.Placements, e.Migrations = spec.List(f.Policies), spec.List(f.Migrations)
	for _, kind := range []struct {
		flag, given string
		to          *[]string
		check       func(string) error
	}{{"fairness", f.Fairness, &e.Fairnesses, scenario.CheckFairness},
		{"chunking", f.Chunking, &e.Chunkings, scenario.CheckChunking}} {
		if kind.given == "" {
			continue
		}
		*kind.to = spec.List(kind.given)
		for _, s := range *kind.to {
			if err := kind.check(s); err != nil {
				return failure.Usage("`godwit sim --help` says what each does", "--%s: %w", kind.flag, err)
			}
		}
	}
	for _, p := range e.Placements {
		if err := scenario.CheckPlacement(p); err != nil {
			return failure.Usage("`godwit sim --help` says what each does", "--policy: %w", err)
		}
	}
	for _, m := range e.Migrations {
		if err := scenario.CheckMigration(m); err != nil {
			return failure.Usage("`godwit sim --help` says what each does", "--migration: %w", err)
		}
	}
	for _, list := range [][]string{e.Placements, e.Migrations, e.Fairnesses, e.Chunkings} {
		for i, s := range list {
			if slices.Contains(list[:i], s) {
				return failure.Usage("name each policy once", "policy %s is named twice", s)
			}
		}
	}
	if e.Base.Predictor = f.Predictor; f.Predictor != "" {
		if err := scenario.CheckPredictor(f.Predictor); err != nil {
			return failure.Usage("`godwit score --help` says what each does", "--predictor: %w", err)
		}
	}
	if f.Runs < 1 || f.Runs > scenario.MaxSeeds || f.Trace.Seed > math.MaxUint64-scenario.MaxSeeds {
		return failure.Usage("write --runs 5",
			"--runs %d from --seed %d: there can be 1 to %d, with seeds that follow each other", f.Runs, f.Trace.Seed,
			scenario.MaxSeeds)
	}
	e.Seeds = nil
	for i := range f.Runs {
		e.Seeds = append(e.Seeds, f.Trace.Seed+uint64(i))
	}
	return nil
}

func (f *Experiment) source(s *scenario.Source) error {
	if f.Assume == trace.Unobserved.String() {
		s.Assume = trace.Unobserved
	} else if err := s.Assume.UnmarshalText([]byte(f.Assume)); err != nil {
		return failure.Usage("write --assume unavailable, or unobserved to leave it open", "--assume: %w", err)
	}
	if f.Trace.Hosts < 0 || f.Trace.Days < 0 {
		return failure.Usage("leave it out for all there are", "--hosts %d and --days %d: neither can be negative",
			f.Trace.Hosts, f.Trace.Days)
	}
	if s.File = f.Path; s.File != "" {
		s.First = f.Trace.Hosts
	}
	s.Kind, s.Resample = f.Trace.Kind, f.Resample
	s.Config = trace.SynthConfig{Hosts: f.Trace.Hosts, Days: f.Trace.Days, Seed: f.Trace.Seed}
	if s.Resample && s.Kind == "" {
		return failure.Usage("leave it out", "--resample makes hosts, and a trace has them already")
	}
	return nil
}

func (f *Experiment) host(h *sim.HostRules) error {
	h.Slots, h.Ahead, h.Memory, h.Grace = f.Slots, f.Ahead, f.HostMemory, f.Grace
	if f.Slots < 1 {
		return failure.Usage("write --slots 1", "--slots %d: a host runs a task at once or more", f.Slots)
	}
	sharing, err := failure.OneOf("sharing", f.Sharing, Sharing)
	if err != nil {
		return err
	}
	speeds, err := failure.OneOf("speeds", f.Speeds, Speeds)
	if err != nil {
		return err
	}
	owner, err := failure.OneOf("owner", f.Owner, Owners)
	h.Sharing, h.Speeds, h.Owner = sim.Sharing(sharing), sim.Speeds(speeds), sim.OwnerRule(owner)
	return err
}

// workload sets the one class of tasks, or reads the log.
func (f *Experiment) workload(w *sim.Workload) error {
	w.Requeue = f.Requeue
	if f.Log != "" {
		l, err := files.Log(f.Log)
		if err != nil {
			return failure.Usage("", "reading the log: %w", err)
		}
		w.Log = l
		return nil
	}
	for _, l := range [][2]string{{"law", f.Law}, {"gaps", f.Gaps}} {
		if _, err := sim.Law(l[1]).Draw(); err != nil {
			return failure.Usage("write --"+l[0]+" exponential", "--%s %q: %w", l[0], l[1], err)
		}
	}
	c := sim.Class{Name: "1", Work: f.Size, WorkLaw: sim.Law(f.Law), Tasks: f.Tasks, Memory: f.Memory, State: f.State}
	switch {
	case f.Size <= 0:
		return failure.Usage("write --job-size 10m", "--job-size %v: a task takes some time", f.Size)
	case f.Tasks < 1:
		return failure.Usage("write --tasks 1", "--tasks %d: a job has a task or more", f.Tasks)
	case f.Arrival < 0:
		return failure.Usage("write --arrival 1m, or 0s for a queue that is never empty", "--arrival %v is negative",
			f.Arrival)
	case f.Gaps != "" && f.Poisson:
		return failure.Usage("leave out one of them", "--gaps does not go with --poisson")
	case f.Gaps != "" && f.Arrival == 0:
		return failure.Usage("write --arrival 1m", "--gaps needs the mean time between jobs")
	case f.Gaps != "":
		c.Arrival, c.Interval, c.Gaps = sim.Renewal, f.Arrival, sim.Law(f.Gaps)
	case f.Poisson && f.Arrival == 0:
		return failure.Usage("write --arrival 1m", "--poisson needs the mean time between jobs")
	case f.Poisson:
		c.Arrival, c.Interval = sim.Poisson, f.Arrival
	case f.Arrival > 0:
		c.Arrival, c.Interval = sim.Every, f.Arrival
	}
	w.Classes = []sim.Class{c}
	return nil
}
