package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"godwit/internal/failure"
	"godwit/lab/files"
	"godwit/lab/progress"
	"godwit/lab/table"
	"godwit/lab/traces"
	"godwit/migrate"
	"godwit/node"
	"godwit/scheduler/place"
	"godwit/scheduler/share"
	"godwit/sim"
	"godwit/sim/scenario"
	"godwit/task"
	"godwit/trace"
)

// A bagsPlan is a scenario of sites on real nodes: jobs that divide what local users
// leave idle, once for each load, fairness policy and seed.
type bagsPlan struct {
	e       *scenario.Experiment
	name    string
	speedup float64
	slots   int           // of each node
	length  time.Duration // of each run, in the scenario's time
	sites   []string      // of each node
	runs    []bagsRun
	jobs    []bagsJob // by time
}

// A bagsRun is one run of all jobs.
type bagsRun struct {
	load   int // index in the experiment's Loads
	policy string
	seed   uint64
}

// A bagsJob is a job of equal tasks; times are the scenario's.
type bagsJob struct {
	name   string
	at     time.Duration
	tasks  int
	work   time.Duration
	memory int64
}

// bagsOf returns the experiment of a scenario file that has sites; nil for another.
func (f *replayFlags) bagsOf() (*scenario.Experiment, error) {
	if f.scenario == "" {
		return nil, nil
	}
	e, err := files.Scenario(f.scenario,
		func(file string) (*trace.Trace, error) { return traces.Read(file, trace.ReadOptions{}) },
		func(string) (*trace.Workload, error) {
			return nil, errors.New("a swarm replays no workload log: use classes")
		})
	if err != nil || len(e.Owners.Sites) == 0 {
		return nil, err
	}
	return e, nil
}

// planBags lays out the runs. nodes is 0 for as many as the file says; flags overrule
// the file where they were given.
func (s *swarmFlags) planBags(e *scenario.Experiment, nodes int, given func(flag string) bool) (*bagsPlan, error) {
	b := &e.Base
	p := &bagsPlan{e: e, name: s.replay.scenario, speedup: e.Speedup, slots: max(1, b.Hosts.Slots), length: b.End.Sub(b.Trace.Start)}
	if p.speedup == 0 || given("speedup") {
		p.speedup = s.replay.speedup
	}
	if given("minutes") {
		p.length = min(p.length, time.Duration(s.replay.minutes*float64(time.Minute)*p.speedup))
	}
	if given("cores") {
		p.slots = s.cores
	}
	for _, site := range e.Owners.Sites {
		for range site.Hosts {
			p.sites = append(p.sites, site.Name)
		}
	}
	if err := p.refuse(nodes, given); err != nil {
		return nil, err
	}
	seeds := e.Seeds
	if given("seed") {
		seeds = []uint64{s.seed}
	}
	fairness := e.Fairnesses
	if len(fairness) == 0 {
		fairness = []string{share.Default}
	}
	// Policies stand innermost, so that those compared are near in time.
	for _, seed := range seeds {
		for load := range e.Loads {
			for _, policy := range fairness {
				p.runs = append(p.runs, bagsRun{load, policy, seed})
			}
		}
	}
	return p, p.readJobs()
}

// maxBagRuns bounds the runs of one command, and maxSwarm its nodes: both catch errors.
const maxBagRuns = 1000

// refuse says what real nodes do not do of the scenario.
func (p *bagsPlan) refuse(nodes int, given func(flag string) bool) error {
	b := &p.e.Base
	var not []string
	refuse := func(wrong bool, format string, args ...any) {
		if wrong {
			not = append(not, fmt.Sprintf(format, args...))
		}
	}
	refuse(nodes != 0 && nodes != len(p.sites), "its sites have %d hosts, not %d: leave the number out", len(p.sites), nodes)
	refuse(len(p.sites) > maxSwarm, "its sites have %d hosts, and one machine runs at most %d nodes", len(p.sites), maxSwarm)
	refuse(len(p.e.Placements) != 1 || len(p.e.Migrations) != 1 || len(p.e.Chunkings) > 1, "runs differ in fairness, load and seed: give one policy of placement, one of migration and one of chunks")
	refuse(b.Warmup >= p.length, "its warm-up of %v leaves nothing of %v to count", b.Warmup, p.length)
	refuse(b.Rates != nil || b.Hosts.Speeds != sim.Uniform, "nodes of sites are equally fast: leave rates and speeds out")
	refuse(b.Hosts.Owner != sim.Suspend, "the nodes' owners suspend tasks: set owner to suspend, and say with grace how long")
	refuse(b.Checkpoints.Auto, "tasks that wait are saved by a clock: give checkpoints a length of time, or 0s")
	for _, name := range []string{"trace", "from", "job-size", "arrival", "policy", "migration", "checkpoint-every", "ends", "compare-sim"} {
		refuse(given(name), "--%s is not of a scenario with sites", name)
	}
	refuse(max(1, len(p.e.Fairnesses))*len(p.e.Loads)*len(p.e.Seeds) > maxBagRuns, "it has more than %d runs", maxBagRuns)
	if len(not) > 0 {
		return failure.Usage("change the scenario", "%s: %s", p.name, strings.Join(not, "; "))
	}
	return nil
}

// readJobs lists the jobs, a class at a time, by when they come.
func (p *bagsPlan) readJobs() error {
	w := &p.e.Base.Workload
	for i := range w.Classes {
		c := &w.Classes[i]
		if draw, err := c.WorkLaw.Draw(); c.Arrival != sim.AtTimes || draw != nil || err != nil || w.Log != nil {
			return failure.Usage("write `arrival: times` and `times: [0s]`", "%s: class %s: jobs of sites come at times that the file gives, with tasks of one length", p.name, c.Name)
		}
		for k, at := range c.Times {
			name := c.Name
			if len(c.Times) > 1 {
				name = fmt.Sprintf("%s-%d", name, k+1)
			}
			if at < p.length {
				p.jobs = append(p.jobs, bagsJob{name, at, max(1, c.Tasks), c.Work, max(jobMemory, c.Memory)})
			}
		}
	}
	if len(p.jobs) == 0 {
		return failure.Usage("give times before the end", "%s: no job comes in %v", p.name, p.length)
	}
	slices.SortStableFunc(p.jobs, func(a, b bagsJob) int { return int(a.at - b.at) })
	return nil
}

// real is how long something of the scenario takes in reality.
func (p *bagsPlan) real(d time.Duration) time.Duration {
	return time.Duration(float64(d) / p.speedup)
}

// policies are those of placement and migration at the nodes' pace.
func (p *bagsPlan) policies() (placement, migration string, err error) {
	if placement, err = place.Faster(p.e.Placements[0], p.speedup); err != nil {
		return "", "", failure.Usage("`godwit overlay create --help` tells what there is", "%s: %w", p.name, err)
	}
	if migration = p.e.Migrations[0]; migration != noMigration {
		if migration, err = migrate.Faster(migration, p.speedup); err != nil {
			return "", "", failure.Usage("`godwit overlay create --help` tells what there is", "%s: %w", p.name, err)
		}
	}
	return placement, migration, nil
}

// text is a job's file.
func (p *bagsPlan) text(j *bagsJob) string {
	checkpoint := "off"
	switch every := p.real(p.e.Base.Checkpoints.Every); {
	case every > 0:
		checkpoint = max(every, task.MinCheckpoint).String()
	case p.e.Migrations[0] != noMigration:
		checkpoint = task.MaxDuration.String()
	}
	return fmt.Sprintf("name: %s\nmodule: noop.wasm\nwork: %s\nmemory: %d\ncheckpoint: %s\nsweep:\n  task: {from: 1, to: %d}\n",
		j.name, p.real(j.work), j.memory, checkpoint, j.tasks)
}

// runSites is the verb for a scenario with sites, of which N may be left out.
func (s *swarmFlags) runSites(cmd *cobra.Command, args []string, e *scenario.Experiment, err error) error {
	if err != nil {
		return err
	}
	nodes := 0
	if len(args) > 0 {
		if _, err := fmt.Sscanf(args[0], "%d", &nodes); err != nil || nodes < 1 {
			return failure.Usage("leave it out: the sites say how many", "cannot run %q nodes", args[0])
		}
	}
	given := cmd.Flags().Changed
	if !given("runner") {
		s.runner = node.RunSleep
	}
	return s.runBags(cmd.Context(), e, nodes, given, cmd.OutOrStdout(), cmd.ErrOrStderr())
}

// runBags plays the scenario, and prints what came of it.
func (s *swarmFlags) runBags(ctx context.Context, e *scenario.Experiment, nodes int, given func(flag string) bool, out, log io.Writer) (err error) {
	p, err := s.planBags(e, nodes, given)
	if err != nil {
		return err
	}
	dir, remove, err := s.makeDir()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	rep, err := p.play(ctx, dir, s.runner, progress.New(log, s.quiet || s.json))
	if rep == nil || len(rep.Runs) == 0 {
		return err
	}
	// What was measured before something failed is told all the same.
	if s.report != "" {
		err = errors.Join(err, files.SaveJSON(s.report, rep))
	}
	if s.json {
		return errors.Join(err, table.JSON(out, rep))
	}
	return errors.Join(err, rep.print(out))
}
