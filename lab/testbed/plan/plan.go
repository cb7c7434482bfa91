// Package plan lays out what nodes are to replay: hosts, jobs and policies.
package plan

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"godwit/internal/failure"
	"godwit/lab/files"
	"godwit/lab/testbed/clock"
	"godwit/lab/testbed/impose"
	"godwit/lab/traces"
	"godwit/migrate"
	"godwit/scheduler/place"
	"godwit/scheduler/share"
	"godwit/sim"
	machines "godwit/sim/swarm"
	"godwit/task"
	"godwit/trace"
)

// A Plan is what a replaying swarm is to do: a scenario, of which a host
// is a node and Speedup seconds are one of real time.
type Plan struct {
	// of the chosen hosts, cut to the window; arrivals are AtTimes, and the policies'
	// lengths of time are the nodes'
	Scenario *sim.Scenario
	Speedup  float64
	Jobs     []Job // by time

	Placement, Migration string // as they were given; of the others lengths of time are none
	ends                 machines.Ending
	Bed                  *impose.Bed // nil: the nodes replay owners, and all work alike
	// Published are mean responses in units of the bed's rates, by class and then of all; nil: none
	Published []float64
	// Past is the history of each host before the start, nil if the nodes have none, and PastSource names its source.
	Past       []*trace.History
	PastSource string
}

// Moves says whether the rules let running tasks move.
func (p *Plan) Moves() bool { return p.Migration != NoMigration }

// Founds says whether the nodes need an overlay with rules of its own: where none
// are named tasks are placed and moved by the default policies.
func (p *Plan) Founds() bool {
	s := p.Scenario
	return p.Migration != migrate.Default || p.Placement != place.Default || s.Predictor != "" || s.Fairness != "" ||
		s.Chunking != ""
}

// Name tells the plan's policies, for people.
func (p *Plan) Name() string {
	names := []string{p.Placement, p.Migration}
	for _, other := range []string{p.Scenario.Fairness, p.Scenario.Chunking, p.Scenario.Predictor} {
		if other != "" {
			names = append(names, other)
		}
	}
	return strings.Join(names, ", ")
}

// A Job is one arrival.
type Job struct {
	At    time.Duration // of the trace, after the window's start
	Class string        // of a test-bed; else ""
	Work  time.Duration // of the trace, on one core
	Tasks int
}

// Plans reads what is to be replayed, and draws hosts and arrivals: a plan for
// each pair of policies, all with the same hosts and jobs. Of a test-bed all machines are
// nodes, whatever nodes says.
func (f *Options) Plans(nodes, slots int, seed uint64) ([]*Plan, error) {
	grid, published, err := f.base(slots)
	if err != nil {
		return nil, err
	}
	s := grid[0]
	whole := s.Trace
	if err := f.window(s, nodes, seed); err != nil {
		return nil, err
	}
	pasts, source, err := f.pasts(whole, s)
	if err != nil {
		return nil, err
	}
	s.Seed = seed
	s.Network = sim.Network{} // this machine's: its delay is measured, and a crash breaks connections at once
	if len(s.Workload.Classes) == 0 {
		s.Workload.Classes = []sim.Class{f.jobs(s)}
	}
	bed := impose.New(s)
	jobs, err := f.arriving(s, bed != nil)
	if err != nil {
		return nil, err
	}
	if bed == nil {
		s.Workload.Classes = asTimes(jobs, JobMemory)
	}
	var plans []*Plan
	for _, of := range grid {
		run := *s
		run.Placement, run.Migration, run.Fairness, run.Chunking = of.Placement, of.Migration, of.Fairness, of.Chunking
		plan := &Plan{
			Scenario: &run, Speedup: f.Speedup, Jobs: jobs, Bed: bed, ends: endings[f.Ends],
			Placement: cmp.Or(run.Placement, place.Default), Migration: cmp.Or(run.Migration, NoMigration),
			Published: published[run.Placement], Past: pasts, PastSource: source,
		}
		if err := errors.Join(plan.hasten(), plan.check()); err != nil {
			return nil, err
		}
		plans = append(plans, plan)
	}
	return plans, nil
}

// window cuts the scenario to what is replayed of it, and to the hosts that are.
func (f *Options) window(s *sim.Scenario, nodes int, seed uint64) (err error) {
	from, length := s.Day0().Add(f.From), time.Duration(f.Minutes*float64(time.Minute)*f.Speedup)
	if f.Minutes == 0 { // the scenario says
		if length = s.End.Sub(from); length <= 0 {
			return failure.Usage("choose --from before the scenario's end",
				"the replay would begin at %s, and the scenario ends at %s", stamp(from), stamp(s.End))
		}
	}
	switch {
	case s.Rates == nil:
		s.Trace, err = cutTrace(s.Trace, nodes, from, length, seed)
	default:
		s.Trace, err = wholeTrace(s.Trace, from, length)
	}
	s.Start, s.End = from, from.Add(length)
	return err
}

// arriving are the jobs of the replay: those of a test-bed have classes, and may
// be of a file.
func (f *Options) arriving(s *sim.Scenario, classes bool) (jobs []Job, err error) {
	switch {
	case f.JobsFile != "":
		err = files.Read(f.JobsFile, func(r io.Reader) (err error) {
			jobs, err = readArrivals(r, s.Workload.Classes, s.End.Sub(s.Start))
			return err
		})
		if err != nil {
			err = fmt.Errorf("reading %s: %w", f.JobsFile, err)
		}
	case classes:
		jobs, err = drawn(s)
	default:
		jobs, err = arrivals(s, rand.New(rand.NewPCG(s.Seed, ArrivalStream)))
	}
	if err != nil {
		return nil, failure.Usage("", "%w", err)
	}
	if len(jobs) == 0 {
		return nil, failure.Usage("give a shorter --arrival or more --minutes", "no job arrives in %s", s.End.Sub(s.Start))
	}
	return jobs, nil
}

// hasten sets the policies, and how often tasks are saved, to the nodes' pace.
func (p *Plan) hasten() (err error) {
	s := p.Scenario
	if s.Placement != sim.Oracle {
		if s.Placement, err = place.Faster(p.Placement, p.Speedup); err != nil {
			return failure.Usage("`godwit overlay create --help` tells what there is", "%w", err)
		}
	}
	if s.Migration, err = migrate.Faster(p.Migration, p.Speedup); err != nil {
		return failure.Usage("`godwit overlay create --help` tells what there is", "%w", err)
	}
	if s.Fairness != "" {
		if s.Fairness, err = share.Faster(p.Scenario.Fairness, p.Speedup); err != nil {
			return failure.Usage("`godwit overlay create --help` tells what there is", "%w", err)
		}
	}
	if s.Checkpoints.Auto {
		return failure.Usage("give a length of time, or 0s for none",
			"checkpoints that are automatic: a replay's tasks are saved by a clock")
	}
	s.Checkpoints.Pause = 0 // what a waiting task saves is 24 bytes
	if every := p.Every(); every != 0 && every < task.MinCheckpoint {
		return failure.Usage(fmt.Sprintf("give %v or more, or 0s for none",
			time.Duration(math.Ceil(p.Speedup))*task.MinCheckpoint),
			"checkpoints each %v are each %v at %g times the speed", s.Checkpoints.Every, every, p.Speedup)
	}
	return nil
}

// Every is how much of the nodes' time is between a task's checkpoints; 0: there
// are none on its way.
func (p *Plan) Every() time.Duration {
	return time.Duration(float64(p.Scenario.Checkpoints.Every) / p.Speedup)
}

// check says what of the plan no node does, as its simulation would say later.
func (p *Plan) check() error {
	s := *p.Scenario
	s.Rates = nil // simulated machines impose none, and real ones do
	err := errors.Join(p.Scenario.Validate(), p.Options().Check(&s))
	if p.Bed != nil {
		err = errors.Join(err, p.Bed.Check(p.Placement))
	}
	if err != nil {
		return failure.Usage("change it, or simulate the policies alone: `godwit sim`", "%w", err)
	}
	return nil
}

// Options are those of a simulation of the plan.
func (p *Plan) Options() machines.Options {
	return machines.Options{Speedup: p.Speedup, Ends: p.ends}
}

// endings are the simulator's names for how nodes end.
var endings = map[string]machines.Ending{EndAsTraced: machines.AsTraced, endCrash: machines.Crash,
	EndGoodbye: machines.Goodbye}

// base are the scenarios of the whole trace, of which each has other policies: a
// file's, or that of the flags, which has no workload yet. published are a file's figures, by placement policy.
func (f *Options) base(slots int) (grid []*sim.Scenario, published map[string][]float64, err error) {
	if f.Scenario != "" {
		return f.fromFile(slots)
	}
	t, err := traces.Read(f.Trace, trace.ReadOptions{})
	if err != nil {
		return nil, nil, failure.Usage("", "reading the trace: %w", err)
	}
	return []*sim.Scenario{{Trace: t, Placement: f.Policy, Migration: f.Migration, Predictor: f.Predictor,
		Checkpoints: sim.Checkpoints{Every: f.Every, Away: true}, Hosts: sim.HostRules{Slots: slots, Grace: usualGrace},
		Workload: sim.Workload{Requeue: true}}}, nil, nil
}

// jobs are those of the flags; without an --arrival they ask for a share of the
// time that the hosts are available.
func (f *Options) jobs(s *sim.Scenario) sim.Class {
	arrival := f.Arrival
	if arrival == 0 {
		var available time.Duration
		for _, h := range s.Trace.Hosts {
			available += clock.TimeIn(h.History, trace.Available)
		}
		share := busyShare * float64(available) * float64(max(1, s.Hosts.Slots)) / float64(s.End.Sub(s.Start))
		arrival = time.Duration(float64(f.JobSize) / share).Round(time.Second)
	}
	return sim.Class{Arrival: sim.Poisson, Interval: arrival, Work: f.JobSize}
}

const (
	// ArrivalStream keeps the arrivals' randomness apart from the hosts'.
	ArrivalStream = 1
	// JobMemory is what a job of a swarm says that it needs.
	JobMemory = 1 << 20
	// stateSize is what a waiting task saves: package node's sleepwait.go.
	stateSize = 24
)

// arrivals draws when jobs come, and how much work they bring, as the
// scenario's workload says.
func arrivals(s *sim.Scenario, rng *rand.Rand) (jobs []Job, err error) {
	length := s.End.Sub(s.Start)
	if s.Workload.Log != nil {
		return nil, errors.New("a swarm replays no workload log: use classes")
	}
	for i, c := range s.Workload.Classes {
		times, err := arrivalTimes(c, length, rng)
		if err != nil {
			return nil, fmt.Errorf("class %d (%s): %w", i, c.Name, err)
		}
		law, err := c.WorkLaw.Draw()
		if err != nil {
			return nil, fmt.Errorf("class %d (%s): %w", i, c.Name, err)
		}
		for _, at := range times {
			jobs = append(jobs, Job{At: at, Work: lengthBy(law, c.Work, rng), Tasks: max(1, c.Tasks)})
		}
	}
	slices.SortStableFunc(jobs, func(a, b Job) int { return int(a.At - b.At) })
	return jobs, nil
}

// lengthBy draws a length about its mean, which it is where the law is nil.
func lengthBy(law sim.Draw, mean time.Duration, rng *rand.Rand) time.Duration {
	if law == nil {
		return mean
	}
	return time.Duration(min(max(0, law(rng)*float64(mean)), float64(task.MaxDuration)))
}

// maxArrivals is far more than a swarm on one machine can be given.
const maxArrivals = 100_000

func arrivalTimes(c sim.Class, length time.Duration, rng *rand.Rand) (times []time.Duration, err error) {
	to := c.To
	if to == 0 || to > length {
		to = length
	}
	step := func() time.Duration { return c.Interval }
	switch c.Arrival {
	case sim.AtTimes:
		for _, at := range c.Times {
			if at < length {
				times = append(times, at)
			}
		}
		return times, nil
	case sim.Every:
		times = append(times, c.From)
	case sim.Poisson:
		step = func() time.Duration { return time.Duration(rng.ExpFloat64() * float64(c.Interval)) }
	case sim.Renewal:
		gap, err := c.Gaps.Draw()
		if err != nil {
			return nil, err
		}
		step = func() time.Duration { return lengthBy(gap, c.Interval, rng) }
	default:
		return nil, errors.New("a swarm cannot keep its queue full by itself: give times between jobs")
	}
	if c.Interval <= 0 {
		return nil, fmt.Errorf("jobs every %v: give a time above 0", c.Interval)
	}
	for at := c.From + step(); at < to; at += step() {
		if times = append(times, at); len(times) > maxArrivals {
			return nil, fmt.Errorf("more than %d jobs: give a longer time between them", maxArrivals)
		}
	}
	return times, nil
}

// asTimes writes the arrivals as classes that say when each comes, so that
// whoever runs the scenario has the same ones.
func asTimes(jobs []Job, memory int64) (classes []sim.Class) {
	type kind struct {
		work  time.Duration
		tasks int
	}
	at := map[kind]int{}
	for _, j := range jobs {
		k := kind{j.Work, j.Tasks}
		i, ok := at[k]
		if !ok {
			i = len(classes)
			at[k] = i
			classes = append(classes, sim.Class{Name: fmt.Sprintf("jobs of %v", j.Work), Arrival: sim.AtTimes, Tasks: j.Tasks,
				Work: j.Work, Memory: memory, State: stateSize})
		}
		classes[i].Times = append(classes[i].Times, j.At)
	}
	return classes
}

// Checkpoint is what jobs say of checkpoints. Those of tasks that move have some,
// if only when they are wanted: never on their way.
func (p *Plan) Checkpoint() string {
	switch every := p.Every(); {
	case every > 0:
		return every.String()
	case p.Moves():
		return task.MaxDuration.String()
	}
	return "off"
}
