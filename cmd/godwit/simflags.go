package main

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"godwit/internal/failure"
	"godwit/internal/spec"
	"godwit/lab/files"
	"godwit/lab/traces"
	"godwit/sim"
	"godwit/sim/scenario"
	"godwit/task"
	"godwit/trace"
)

// experimentFlags describe an experiment with one class of tasks. What they
// leave out a scenario file can say.
type experimentFlags struct {
	trace        traces.Source
	path, assume string
	resample     bool

	policies, migrations, predictor string
	fairness, chunking              string
	runs                            int
	warmup                          time.Duration
	paper, scanAll                  bool

	size, arrival          time.Duration
	law, log               string
	poisson, requeue       bool
	gaps                   string
	tasks                  int
	memory, state          sizeFlag
	slots, ahead           int
	hostMemory             sizeFlag
	sharing, speeds, owner string
	grace                  time.Duration

	network     sim.Network
	up, down    sizeFlag
	checkpoints sim.Checkpoints
}

// The experiment of the thesis (zhang.md 8.2), where nothing else is said.
const (
	defaultJobSize = 10 * time.Minute
	defaultArrival = time.Minute
)

// The names of what flags choose from, in the order of sim's values.
var (
	simSharing = []string{"queue", "share"}
	simSpeeds  = []string{"uniform", "traced"}
	simOwners  = []string{"suspend", "kill"}
)

func (f *experimentFlags) add(cmd *cobra.Command) {
	usual := scenario.Default()
	fl := cmd.Flags()
	addTrace(&f.trace, cmd)
	fl.StringVar(&f.path, "trace", "", "file with the trace; --hosts takes its first hosts, --days its first days")
	fl.StringVar(&f.assume, "assume", usual.Source.Assume.String(), "what hosts did while nobody looked: a state, or unobserved to leave it open")
	fl.BoolVar(&f.resample, "resample", false, "with --synth: make the hosts anew for each run")

	fl.StringVar(&f.policies, "policy", strings.Join(usual.Placements, ","), "placement policies, with commas between them")
	fl.StringVar(&f.fairness, "fairness", "", "policies of fair shares, with commas between them; with --machines (default: the usual)")
	fl.StringVar(&f.chunking, "chunking", "", "policies of chunks of sweeps, likewise")
	fl.StringVar(&f.migrations, "migration", strings.Join(usual.Migrations, ","), "migration policies, with commas between them")
	fl.StringVar(&f.predictor, "predictor", "", "model of all forecasts (default: the one that a policy was published with, or blend)")
	fl.IntVar(&f.runs, "runs", 1, "runs of each pair of policies, with seeds from --seed on")
	fl.DurationVar(&f.warmup, "warmup", 0, "time at the beginning that is left out of the results")
	fl.BoolVar(&f.paper, "paper", false, "the published rules: central scheduler, free transfers, no checkpoints, tasks lost with their hosts")
	fl.BoolVar(&f.scanAll, "scan-all", false, "migration policies predict for every available host, not only for those that run tasks")

	fl.DurationVar(&f.size, "job-size", defaultJobSize, "time of a task on the reference core")
	fl.StringVar(&f.law, "law", string(sim.Fixed), "law of that time, with --job-size the mean: see above")
	fl.DurationVar(&f.arrival, "arrival", defaultArrival, "time between jobs; 0s: the queue is never empty")
	fl.BoolVar(&f.poisson, "poisson", false, "jobs arrive at random, each --arrival on average")
	fl.StringVar(&f.gaps, "gaps", "", "law of the times between jobs, with --arrival the mean: see above; exponential is as --poisson")
	fl.IntVar(&f.tasks, "tasks", 1, "tasks of each job")
	fl.StringVar(&f.log, "log", "", "replay this .swf log in place of such jobs")
	fl.BoolVar(&f.requeue, "requeue", usual.Base.Workload.Requeue, "tasks that are lost go back to the queue's end")
	fl.Var(&f.memory, "task-memory", "memory that a task needs")
	fl.Var(&f.state, "state", "size of a task's checkpoint (default: its memory)")

	h := &usual.Base.Hosts
	fl.IntVar(&f.slots, "slots", 1, "tasks that a host runs at once")
	fl.IntVar(&f.ahead, "ahead", h.Ahead, "tasks beyond its slots that a host may be given, by policies that do so (default: as the policy needs)")
	fl.Var(&f.hostMemory, "host-memory", "memory that a host lends (default: as much as is asked for)")
	fl.StringVar(&f.sharing, "sharing", simSharing[h.Sharing], "tasks beyond a host's slots: queue, or share them")
	fl.StringVar(&f.speeds, "speeds", simSpeeds[h.Speeds], "hosts are uniform, or as fast as traced: clock rate and share of the CPU")
	fl.StringVar(&f.owner, "owner", simOwners[h.Owner], "when the owner returns, suspend or kill tasks")
	fl.DurationVar(&f.grace, "grace", h.Grace, "how long suspended tasks wait before they go on elsewhere; 0s: forever")

	f.network, f.checkpoints = usual.Base.Network, usual.Base.Checkpoints
	fl.DurationVar(&f.network.Delay, "delay", f.network.Delay, "time that a message takes")
	fl.Var(&f.up, "upload", "bytes that a host sends a second (default: no bound)")
	fl.Var(&f.down, "download", "bytes that a host receives a second (default: no bound)")
	fl.DurationVar(&f.network.Detect, "detect", f.network.Detect, "how long a host that vanished is believed to be there")
	fl.Var(everyFlag{&f.checkpoints}, "checkpoint-every", "running time between a task's checkpoints; 0s: none; auto: chosen for each run, by how long its host will stay")
	fl.DurationVar(&f.checkpoints.Pause, "checkpoint-pause", f.checkpoints.Pause, "how long a task stands still for one, for each 64 MiB")
	fl.BoolVar(&f.checkpoints.Away, "checkpoint-away", f.checkpoints.Away, "checkpoints are sent elsewhere, and outlive their host")
}

// experiment reads or makes the trace and sets what the flags say.
func (f *experimentFlags) experiment() (*scenario.Experiment, error) {
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
	b.Warmup, b.Paper, b.ScanAll = f.warmup, f.paper, f.scanAll
	b.Network, b.Checkpoints = f.network, f.checkpoints
	b.Network.Upload, b.Network.Download = float64(f.up), float64(f.down)
	if err := f.workload(&b.Workload); err != nil {
		return nil, err
	}
	t, err := f.trace.Load(f.path)
	if err != nil {
		return nil, err
	}
	e.Use(t)
	if f.path != "" && f.trace.Days > 0 {
		e.SetDays(f.trace.Days)
	}
	return e, nil
}

// policy sets the policies and the seeds.
func (f *experimentFlags) policy(e *scenario.Experiment) error {
	e.Placements, e.Migrations = spec.List(f.policies), spec.List(f.migrations)
	for _, kind := range []struct {
		flag, given string
		to          *[]string
		check       func(string) error
	}{{"fairness", f.fairness, &e.Fairnesses, scenario.CheckFairness}, {"chunking", f.chunking, &e.Chunkings, scenario.CheckChunking}} {
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
	if e.Base.Predictor = f.predictor; f.predictor != "" {
		if err := scenario.CheckPredictor(f.predictor); err != nil {
			return failure.Usage("`godwit score --help` says what each does", "--predictor: %w", err)
		}
	}
	if f.runs < 1 || f.runs > scenario.MaxSeeds || f.trace.Seed > math.MaxUint64-scenario.MaxSeeds {
		return failure.Usage("write --runs 5", "--runs %d from --seed %d: there can be 1 to %d, with seeds that follow each other", f.runs, f.trace.Seed, scenario.MaxSeeds)
	}
	e.Seeds = nil
	for i := range f.runs {
		e.Seeds = append(e.Seeds, f.trace.Seed+uint64(i))
	}
	return nil
}

func (f *experimentFlags) source(s *scenario.Source) error {
	if f.assume == trace.Unobserved.String() {
		s.Assume = trace.Unobserved
	} else if err := s.Assume.UnmarshalText([]byte(f.assume)); err != nil {
		return failure.Usage("write --assume unavailable, or unobserved to leave it open", "--assume: %w", err)
	}
	if f.trace.Hosts < 0 || f.trace.Days < 0 {
		return failure.Usage("leave it out for all there are", "--hosts %d and --days %d: neither can be negative", f.trace.Hosts, f.trace.Days)
	}
	if s.File = f.path; s.File != "" {
		s.First = f.trace.Hosts
	}
	s.Kind, s.Resample = f.trace.Kind, f.resample
	s.Config = trace.SynthConfig{Hosts: f.trace.Hosts, Days: f.trace.Days, Seed: f.trace.Seed}
	if s.Resample && s.Kind == "" {
		return failure.Usage("leave it out", "--resample makes hosts, and a trace has them already")
	}
	return nil
}

func (f *experimentFlags) host(h *sim.HostRules) error {
	h.Slots, h.Ahead, h.Memory, h.Grace = f.slots, f.ahead, int64(f.hostMemory), f.grace
	if f.slots < 1 {
		return failure.Usage("write --slots 1", "--slots %d: a host runs a task at once or more", f.slots)
	}
	sharing, err := oneOf("sharing", f.sharing, simSharing)
	if err != nil {
		return err
	}
	speeds, err := oneOf("speeds", f.speeds, simSpeeds)
	if err != nil {
		return err
	}
	owner, err := oneOf("owner", f.owner, simOwners)
	h.Sharing, h.Speeds, h.Owner = sim.Sharing(sharing), sim.Speeds(speeds), sim.OwnerRule(owner)
	return err
}

// workload sets the one class of tasks, or reads the log.
func (f *experimentFlags) workload(w *sim.Workload) error {
	w.Requeue = f.requeue
	if f.log != "" {
		l, err := files.Log(f.log)
		if err != nil {
			return failure.Usage("", "reading the log: %w", err)
		}
		w.Log = l
		return nil
	}
	for _, l := range [][2]string{{"law", f.law}, {"gaps", f.gaps}} {
		if _, err := sim.Law(l[1]).Draw(); err != nil {
			return failure.Usage("write --"+l[0]+" exponential", "--%s %q: %w", l[0], l[1], err)
		}
	}
	c := sim.Class{Name: "1", Work: f.size, WorkLaw: sim.Law(f.law), Tasks: f.tasks, Memory: int64(f.memory), State: int64(f.state)}
	switch {
	case f.size <= 0:
		return failure.Usage("write --job-size 10m", "--job-size %v: a task takes some time", f.size)
	case f.tasks < 1:
		return failure.Usage("write --tasks 1", "--tasks %d: a job has a task or more", f.tasks)
	case f.arrival < 0:
		return failure.Usage("write --arrival 1m, or 0s for a queue that is never empty", "--arrival %v is negative", f.arrival)
	case f.gaps != "" && f.poisson:
		return failure.Usage("leave out one of them", "--gaps does not go with --poisson")
	case f.gaps != "" && f.arrival == 0:
		return failure.Usage("write --arrival 1m", "--gaps needs the mean time between jobs")
	case f.gaps != "":
		c.Arrival, c.Interval, c.Gaps = sim.Renewal, f.arrival, sim.Law(f.gaps)
	case f.poisson && f.arrival == 0:
		return failure.Usage("write --arrival 1m", "--poisson needs the mean time between jobs")
	case f.poisson:
		c.Arrival, c.Interval = sim.Poisson, f.arrival
	case f.arrival > 0:
		c.Arrival, c.Interval = sim.Every, f.arrival
	}
	w.Classes = []sim.Class{c}
	return nil
}

// oneOf finds a flag's value among the names of what it chooses from.
func oneOf(flag, value string, names []string) (uint8, error) {
	i := slices.Index(names, value)
	if i < 0 {
		return 0, failure.Usage("write --"+flag+" "+names[0], "--%s %q: it is one of %s", flag, value, strings.Join(names, ", "))
	}
	return uint8(i), nil
}

// An everyFlag is how often tasks are saved: a length of time, or auto.
type everyFlag struct{ of *sim.Checkpoints }

// String writes it.
func (f everyFlag) String() string {
	switch {
	case f.of == nil:
		return ""
	case f.of.Auto:
		return scenario.Auto
	}
	return f.of.Every.String()
}

// Set reads it.
func (f everyFlag) Set(s string) error { return scenario.SetEvery(f.of, s) }

// Type is what help calls a value.
func (f everyFlag) Type() string { return "duration" }

// A sizeFlag is a number of bytes, as 256MiB.
type sizeFlag int64

// String writes the size; "" is 0, so that help shows no default.
func (f *sizeFlag) String() string {
	if *f == 0 {
		return ""
	}
	return task.FormatSize(int64(*f))
}

// Set reads the size.
func (f *sizeFlag) Set(s string) error {
	n, err := task.ParseSize(s)
	*f = sizeFlag(n)
	return err
}

// Type is what help calls a value.
func (f *sizeFlag) Type() string { return "size" }
