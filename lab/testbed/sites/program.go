// Package sites runs nodes at sites, whose local users come and go while jobs divide what they leave.
package sites

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"godwit/internal/failure"
	"godwit/lab/files"
	"godwit/lab/plot"
	"godwit/lab/testbed"
	"godwit/lab/testbed/plan"
	"godwit/migrate"
	"godwit/scheduler/place"
	"godwit/scheduler/share"
	"godwit/sim"
	"godwit/sim/scenario"
	"godwit/task"
)

// Options are those of a scenario of sites. What is not 0 goes before the file.
type Options struct {
	testbed.Options
	Scenario string // file
	Speedup  float64
	Minutes  float64
	OneSeed  bool   // the options' seed goes before the file's
	Plot     string // picture of the usage of slots, .png or .svg; "": none
	CSV      string // table of the usage of slots; "": none
}

// A program is a scenario of sites on real nodes: jobs that divide what local users
// leave idle, once for each load, fairness policy and seed.
type program struct {
	e       *scenario.Experiment
	name    string
	speedup float64
	slots   int           // of each node
	length  time.Duration // of each run, in the scenario's time
	sites   []string      // of each node
	runs    []run
	jobs    []job // by time
}

// A run is one run of all jobs.
type run struct {
	load   int // index in the experiment's Loads
	policy string
	seed   uint64
}

// A job is a job of equal tasks; times are the scenario's.
type job struct {
	name   string
	at     time.Duration
	tasks  int
	work   time.Duration
	memory int64
}

// read reads the scenario file, which has sites.
func (o *Options) read() (*scenario.Experiment, error) {
	switch {
	case o.Scenario == "":
		return nil, failure.Usage("name the file with --scenario", "which sites?")
	case o.Cores < 0 || !(o.Speedup >= 0) || !(o.Minutes >= 0):
		return nil, failure.Usage("leave them out", "--cores, --speedup and --minutes are not negative")
	}
	e, err := plan.Scenario(o.Scenario)
	if err != nil {
		return nil, err
	}
	return e, plan.CheckVerb(e, o.Scenario, plan.SitesVerb)
}

// plan lays out the runs; flags overrule the file where they were given.
func (o *Options) plan(e *scenario.Experiment) (*program, error) {
	b := &e.Base
	p := &program{e: e, name: o.Scenario, speedup: e.Speedup, slots: max(1, b.Hosts.Slots),
		length: b.End.Sub(b.Trace.Start)}
	if o.Speedup != 0 || p.speedup == 0 {
		p.speedup = cmp.Or(o.Speedup, plan.Speedup)
	}
	if o.Minutes != 0 {
		p.length = min(p.length, time.Duration(o.Minutes*float64(time.Minute)*p.speedup))
	}
	if o.Cores != 0 {
		p.slots = o.Cores
	}
	for _, site := range e.Owners.Sites {
		for range site.Hosts {
			p.sites = append(p.sites, site.Name)
		}
	}
	if err := p.refuse(); err != nil {
		return nil, err
	}
	seeds := e.Seeds
	if o.OneSeed {
		seeds = []uint64{o.Seed}
	}
	fairness := e.Fairnesses
	if len(fairness) == 0 {
		fairness = []string{share.Default}
	}
	// Policies stand innermost, so that those compared are near in time.
	for _, seed := range seeds {
		for load := range e.Loads {
			for _, policy := range fairness {
				p.runs = append(p.runs, run{load, policy, seed})
			}
		}
	}
	return p, p.readJobs()
}

// maxBagRuns bounds the runs of one command, and plan.MaxNodes its nodes: both catch errors.
const maxBagRuns = 1000

// refuse says what real nodes do not do of the scenario.
func (p *program) refuse() error {
	b := &p.e.Base
	var not []string
	refuse := func(wrong bool, format string, args ...any) {
		if wrong {
			not = append(not, fmt.Sprintf(format, args...))
		}
	}
	refuse(len(p.sites) > plan.MaxNodes, "its sites have %d hosts, and one machine runs at most %d nodes", len(p.sites),
		plan.MaxNodes)
	refuse(len(p.e.Placements) != 1 || len(p.e.Migrations) != 1 || len(p.e.Chunkings) > 1,
		"runs differ in fairness, load and seed: give one policy of placement, one of migration and one of chunks")
	refuse(b.Warmup >= p.length, "its warm-up of %v leaves nothing of %v to count", b.Warmup, p.length)
	refuse(b.Rates != nil || b.Hosts.Speeds != sim.Uniform, "nodes of sites are equally fast: leave rates and speeds out")
	refuse(p.e.Past != 0, "nodes of sites begin without a history: leave past out")
	refuse(b.Predictor != "", "nodes of sites go by the default predictor: leave predictor out")
	refuse(b.Hosts.Owner != sim.Suspend,
		"the nodes' owners suspend tasks: set owner to suspend, and say with grace how long")
	refuse(b.Checkpoints.Auto, "tasks that wait are saved by a clock: give checkpoints a length of time, or 0s")
	refuse(max(1, len(p.e.Fairnesses))*len(p.e.Loads)*len(p.e.Seeds) > maxBagRuns, "it has more than %d runs", maxBagRuns)
	if len(not) > 0 {
		return failure.Usage("change the scenario", "%s: %s", p.name, strings.Join(not, "; "))
	}
	return nil
}

// readJobs lists the jobs, a class at a time, by when they come.
func (p *program) readJobs() error {
	w := &p.e.Base.Workload
	for i := range w.Classes {
		c := &w.Classes[i]
		if draw, err := c.WorkLaw.Draw(); c.Arrival != sim.AtTimes || draw != nil || err != nil || w.Log != nil {
			return failure.Usage("write `arrival: times` and `times: [0s]`",
				"%s: class %s: jobs of sites come at times that the file gives, with tasks of one length", p.name, c.Name)
		}
		for k, at := range c.Times {
			name := c.Name
			if len(c.Times) > 1 {
				name = fmt.Sprintf("%s-%d", name, k+1)
			}
			if at < p.length {
				p.jobs = append(p.jobs, job{name, at, max(1, c.Tasks), c.Work, max(plan.JobMemory, c.Memory)})
			}
		}
	}
	if len(p.jobs) == 0 {
		return failure.Usage("give times before the end", "%s: no job comes in %v", p.name, p.length)
	}
	slices.SortStableFunc(p.jobs, func(a, b job) int { return int(a.at - b.at) })
	return nil
}

// real is how long something of the scenario takes in reality.
func (p *program) real(d time.Duration) time.Duration {
	return time.Duration(float64(d) / p.speedup)
}

// policies are those of placement and migration at the nodes' pace.
func (p *program) policies() (placement, migration string, err error) {
	if placement, err = place.Faster(p.e.Placements[0], p.speedup); err != nil {
		return "", "", failure.Usage("`godwit overlay create --help` tells what there is", "%s: %w", p.name, err)
	}
	if migration = p.e.Migrations[0]; migration != plan.NoMigration {
		if migration, err = migrate.Faster(migration, p.speedup); err != nil {
			return "", "", failure.Usage("`godwit overlay create --help` tells what there is", "%s: %w", p.name, err)
		}
	}
	return placement, migration, nil
}

// fairness returns a policy of fairness at the nodes' pace.
func (p *program) fairness(policy string) (string, error) {
	out, err := share.Faster(policy, p.speedup)
	if err != nil {
		return "", failure.Usage("`godwit overlay create --help` tells what there is", "%s: %w", p.name, err)
	}
	return out, nil
}

// text is a job's file.
func (p *program) text(j *job) string {
	checkpoint := "off"
	switch every := p.real(p.e.Base.Checkpoints.Every); {
	case every > 0:
		checkpoint = max(every, task.MinCheckpoint).String()
	case p.e.Migrations[0] != plan.NoMigration:
		checkpoint = task.MaxDuration.String()
	}
	return fmt.Sprintf("name: %s\nmodule: noop.wasm\nverify: off\nwork: %s\nmemory: %d\ncheckpoint: %s\n"+
		"sweep:\n  task: {from: 1, to: %d}\n",
		j.name, p.real(j.work), j.memory, checkpoint, j.tasks)
}

// Run plays the scenario, and prints what came of it.
func (o *Options) Run(ctx context.Context, out, log io.Writer) (err error) {
	if err := plot.CheckName(o.Plot); err != nil {
		return err
	}
	e, err := o.read()
	if err != nil {
		return err
	}
	p, err := o.plan(e)
	if err != nil {
		return err
	}
	dir, remove, err := o.MakeDir()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	rep, err := p.play(ctx, dir, o.Runner, o.NewProgress(log))
	if rep == nil || len(rep.Runs) == 0 {
		return err
	}
	// What was measured before something failed is told all the same.
	return errors.Join(err, o.saveUsage(rep), o.Tell(out, rep, rep.print))
}

// saveUsage writes the files of the usage of slots that the options name.
func (o *Options) saveUsage(rep *report) (err error) {
	if o.CSV != "" {
		if err = files.Write(o.CSV, rep.writeUsage); err != nil {
			err = fmt.Errorf("writing the usage of slots: %w", err)
		}
	}
	if o.Plot != "" {
		err = errors.Join(err, plot.Save(o.Plot, rep.charts()...))
	}
	return err
}
