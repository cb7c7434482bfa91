package main

import (
	"strings"
	"time"

	"github.com/spf13/cobra"

	"godwit/lab/simulation"
	"godwit/sim"
	"godwit/sim/scenario"
	"godwit/task"
)

// The experiment of the thesis (docs/spec/zhang.md section 8.2), where nothing else is said.
const (
	defaultJobSize = 10 * time.Minute
	defaultArrival = time.Minute
)

func addExperiment(f *simulation.Experiment, cmd *cobra.Command) {
	usual := scenario.Default()
	fl := cmd.Flags()
	addTrace(&f.Trace, cmd)
	fl.StringVar(&f.Path, "trace", "", "file with the trace; --hosts takes its first hosts, --days its first days")
	fl.StringVar(&f.Assume, "assume", usual.Source.Assume.String(),
		"what hosts did while nobody looked: a state, or unobserved to leave it open")
	fl.BoolVar(&f.Resample, "resample", false, "with --synth: make the hosts anew for each run")

	fl.StringVar(&f.Policies, "policy", strings.Join(usual.Placements, ","),
		"placement policies, with commas between them")
	fl.StringVar(&f.Fairness, "fairness", "",
		"policies of fair shares, with commas between them; with --machines (default: the usual)")
	fl.StringVar(&f.Chunking, "chunking", "", "policies of chunks of sweeps, likewise")
	fl.StringVar(&f.Migrations, "migration", strings.Join(usual.Migrations, ","),
		"migration policies, with commas between them")
	fl.StringVar(&f.Predictor, "predictor", "",
		"model of all forecasts (default: the one that a policy was published with, or blend)")
	fl.IntVar(&f.Runs, "runs", 1, "runs of each pair of policies, with seeds from --seed on")
	fl.DurationVar(&f.Warmup, "warmup", 0, "time at the beginning that is left out of the results")
	fl.BoolVar(&f.Paper, "paper", false,
		"the published rules: central scheduler, free transfers, no checkpoints, tasks lost with their hosts")
	fl.BoolVar(&f.ScanAll, "scan-all", false,
		"migration policies predict for every available host, not only for those that run tasks")

	fl.DurationVar(&f.Size, "job-size", defaultJobSize, "time of a task on the reference core")
	fl.StringVar(&f.Law, "law", string(sim.Fixed), "law of that time, with --job-size the mean: see above")
	fl.DurationVar(&f.Arrival, "arrival", defaultArrival, "time between jobs; 0s: the queue is never empty")
	fl.BoolVar(&f.Poisson, "poisson", false, "jobs arrive at random, each --arrival on average")
	fl.StringVar(&f.Gaps, "gaps", "",
		"law of the times between jobs, with --arrival the mean: see above; exponential is as --poisson")
	fl.IntVar(&f.Tasks, "tasks", 1, "tasks of each job")
	fl.StringVar(&f.Log, "log", "", "replay this .swf log in place of such jobs")
	fl.BoolVar(&f.Requeue, "requeue", usual.Base.Workload.Requeue, "tasks that are lost go back to the queue's end")
	fl.Var((*sizeFlag)(&f.Memory), "task-memory", "memory that a task needs")
	fl.Var((*sizeFlag)(&f.State), "state", "size of a task's checkpoint (default: its memory)")

	h := &usual.Base.Hosts
	fl.IntVar(&f.Slots, "slots", 1, "tasks that a host runs at once")
	fl.IntVar(&f.Ahead, "ahead", h.Ahead,
		"tasks beyond its slots that a host may be given, by policies that do so (default: as the policy needs)")
	fl.Var((*sizeFlag)(&f.HostMemory), "host-memory", "memory that a host lends (default: as much as is asked for)")
	fl.StringVar(&f.Sharing, "sharing", simulation.Sharing[h.Sharing], "tasks beyond a host's slots: queue, or share them")
	fl.StringVar(&f.Speeds, "speeds", simulation.Speeds[h.Speeds],
		"hosts are uniform, or as fast as traced: clock rate and share of the CPU")
	fl.StringVar(&f.Owner, "owner", simulation.Owners[h.Owner], "when the owner returns, suspend or kill tasks")
	fl.DurationVar(&f.Grace, "grace", h.Grace, "how long suspended tasks wait before they go on elsewhere; 0s: forever")

	f.Network, f.Checkpoints = usual.Base.Network, usual.Base.Checkpoints
	fl.DurationVar(&f.Network.Delay, "delay", f.Network.Delay, "time that a message takes")
	fl.Var((*sizeFlag)(&f.Up), "upload", "bytes that a host sends a second (default: no bound)")
	fl.Var((*sizeFlag)(&f.Down), "download", "bytes that a host receives a second (default: no bound)")
	fl.DurationVar(&f.Network.Detect, "detect", f.Network.Detect, "how long a host that vanished is believed to be there")
	fl.Var(everyFlag{&f.Checkpoints}, "checkpoint-every",
		"running time between a task's checkpoints; 0s: none; auto: chosen for each run, by how long its host will stay")
	fl.DurationVar(&f.Checkpoints.Pause, "checkpoint-pause", f.Checkpoints.Pause,
		"how long a task stands still for one, for each 64 MiB")
	fl.BoolVar(&f.Checkpoints.Away, "checkpoint-away", f.Checkpoints.Away,
		"checkpoints are sent elsewhere, and outlive their host")
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
