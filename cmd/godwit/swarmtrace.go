package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"godwit/internal/failure"
	"godwit/lab/files"
	"godwit/lab/progress"
	"godwit/scheduler/place"
)

// planOptions describe what a swarm replays.
type planOptions struct {
	classes bool // of a scenario that imposes rates by class: a node for each of its machines

	trace      string
	scenario   string // file; "" for the flags'
	from       time.Duration
	speedup    float64
	minutes    float64
	jobSize    time.Duration
	arrival    time.Duration
	policy     string
	migration  string
	every      time.Duration // between checkpoints; 0: none on the way
	ends       string
	jobsFile   string // "": jobs are drawn
	compareSim bool

	minutesGiven bool // else a scenario's end goes before minutes
}

// The bounds of what makes sense on one machine.
const (
	maxSpeedup = 100_000
	maxMinutes = 7 * 24 * 60
	// usualSpeedup and usualMinutes replay forty hours.
	usualSpeedup, usualMinutes = 600, 4
	// usualJob is ten minutes: short against the times that hosts stay.
	usualJob = 10 * time.Minute
	// busyShare is how much of the time that hosts are available the work asks
	// for when no --arrival is given: enough to keep them busy, and little enough
	// that the queue does not only grow.
	busyShare = 0.5
	// usualGrace is how long a stopped task waits, as owner.Default has it.
	usualGrace = 10 * time.Minute
	// noMigration names the migration policy that moves nothing.
	noMigration = "none"
)

// check refuses what cannot be replayed.
func (f *planOptions) check() error {
	switch {
	case f.classes && f.scenario == "":
		return failure.Usage("name the file with --scenario", "which classes?")
	case f.trace == "" && f.scenario == "":
		return failure.Usage("name a file with --trace or --scenario", "what is to be replayed?")
	case !(f.speedup >= 1 && f.speedup <= maxSpeedup):
		return failure.Usage("", "--speedup %v: give 1 to %d", f.speedup, maxSpeedup)
	case !(f.minutes > 0 && f.minutes <= maxMinutes):
		return failure.Usage("", "--minutes %v: give more than 0, at most %d", f.minutes, maxMinutes)
	case f.jobSize <= 0 || f.arrival < 0 || f.from < 0 || f.every < 0:
		return failure.Usage("", "--job-size must be above 0, --arrival, --from and --checkpoint-every not negative")
	case f.scenario != "" && (f.trace != "" || f.arrival != 0 || f.jobSize != usualJob || f.policy != place.Default || f.migration != noMigration || f.every != 0):
		return failure.Usage("leave them out", "with --scenario the file has what --trace, --job-size, --arrival, --policy, --migration and --checkpoint-every say")
	case f.jobsFile != "" && f.compareSim:
		return failure.Usage("leave out one of them", "the simulator draws its jobs, and --jobs reads others")
	case f.ends != endAsTraced && f.ends != endCrash && f.ends != endGoodbye:
		return failure.Usage("", "--ends %q: there are %s, %s and %s", f.ends, endAsTraced, endCrash, endGoodbye)
	}
	return nil
}

// replayOptions are those of a replay.
type replayOptions struct {
	bedOptions
	plan planOptions
}

// run plays the trace on real nodes, and ends them, whatever happens.
func (s *replayOptions) run(ctx context.Context, out, log io.Writer) (err error) {
	if err := errors.Join(s.bedOptions.check(), s.plan.check()); err != nil {
		return err
	}
	plans, err := s.plan.planned(s.nodes, s.cores, s.seed)
	if err != nil {
		return err
	}
	dir, remove, err := s.makeDir()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	p := s.progress(log)
	var reps replayReports
	for i, plan := range plans {
		if len(plans) > 1 {
			p.Note("%d of %d: %s", i+1, len(plans), plan.name())
		}
		rep, e := s.playPlan(ctx, p, runDir(dir, plans, i), plan)
		if e != nil {
			err = e
			break // what came of those before is told
		}
		reps = append(reps, rep)
	}
	if len(reps) == 0 {
		return err
	}
	return errors.Join(s.tellAll(out, reps), err)
}

// runDir is where a plan is played: below the swarm's directory, one beside the
// other where there are several.
func runDir(dir string, plans []*replayPlan, i int) string {
	if len(plans) == 1 {
		return dir
	}
	name := strings.Map(func(r rune) rune {
		if r == '-' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' {
			return r
		}
		return '_'
	}, strings.ReplaceAll(plans[i].name(), ", ", "-"))
	return filepath.Join(dir, fmt.Sprintf("%d-%.60s", i+1, name))
}

// tellAll writes the reports where they are wanted.
func (s *replayOptions) tellAll(out io.Writer, reps replayReports) error {
	if s.report != "" {
		if err := files.Write(s.report, reps.writeJSON); err != nil {
			return fmt.Errorf("writing the report: %w", err)
		}
	}
	if s.json {
		return reps.writeJSON(out)
	}
	return reps.print(out)
}

// playPlan plays one plan below dir.
func (s *replayOptions) playPlan(ctx context.Context, p *progress.Progress, dir string, plan *replayPlan) (*replayReport, error) {
	f := &s.plan
	r, err := newReplay(ctx, p, dir, plan, f.ends, s.nodeArgs())
	if err != nil {
		return nil, err
	}
	rep, err := s.replayed(ctx, r, p, dir)
	if err != nil || !f.compareSim {
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
func (s *replayOptions) replayed(ctx context.Context, r *replay, p *progress.Progress, dir string) (rep *replayReport, err error) {
	defer func() { err = errors.Join(err, r.stop()) }()
	if r.plan.bed != nil {
		if err := r.gather(ctx, p); err != nil {
			return nil, err
		}
	}
	if err := r.run(ctx, p); err != nil {
		return nil, err
	}
	p.Note("reading what came of the jobs")
	jobs, err := r.jobs(ctx)
	if err != nil {
		return nil, err
	}
	if err := r.measureDelay(ctx); err != nil {
		return nil, err
	}
	m := r.measuredRun(jobs)
	tasks, err := measureTasks(m)
	if err != nil {
		return nil, fmt.Errorf("measuring the tasks: %w", err)
	}
	if s.dir != "" {
		if err := errors.Join(r.keep(dir, jobs), writeExports(dir, m, tasks)); err != nil {
			return nil, err
		}
	}
	f := &s.plan
	rep = &replayReport{Nodes: len(r.players), Speedup: f.speedup, Minutes: r.minutes(), FromS: f.from.Seconds(),
		Seed: s.seed, Jobs: len(r.plan.jobs), Starts: r.startsOf(), DelayS: r.delay.Seconds(), Swarm: r.report(jobs),
		Published: r.plan.published, name: r.plan.name()}
	if r.plan.bed != nil {
		r.overhead = r.plan.bed.overheadOf(m, tasks)
		rep.OverheadS = r.overhead.Seconds()
		rep.measure(m, tasks)
	}
	for _, j := range r.plan.jobs {
		rep.WorkS += j.work.Seconds() * float64(j.tasks)
	}
	for _, h := range r.plan.scenario.Trace.Hosts {
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
