package main

import (
	"errors"
	"strings"

	"godwit/internal/failure"
	"godwit/lab/files"
	"godwit/lab/traces"
	"godwit/sim"
	"godwit/trace"
)

// fromFile reads a scenario file: a scenario for each pair of policies, which share
// all else. It refuses what real nodes on one machine do not do. What simulated ones
// do not do either is told later.
func (f *replayFlags) fromFile(slots int) (grid []*sim.Scenario, published map[string][]float64, err error) {
	e, err := files.Scenario(f.scenario,
		func(file string) (*trace.Trace, error) { return traces.Read(file, trace.ReadOptions{}) },
		func(string) (*trace.Workload, error) {
			return nil, errors.New("a swarm replays no workload log: use classes")
		})
	if err != nil {
		return nil, nil, err
	}
	if grid, err = e.Grid(); err != nil {
		return nil, nil, err
	}
	s := grid[0]
	var not []string
	refuse := func(wrong bool, what string) {
		if wrong {
			not = append(not, what)
		}
	}
	refuse(len(e.Seeds) != 1, "a swarm plays one seed: choose it with --seed")
	refuse(s.Hosts.Owner != sim.Suspend, "the nodes' owners suspend tasks: set owner to suspend")
	refuse(s.Hosts.Speeds != sim.Uniform, "a waiting task takes as long on every host: set speeds to uniform")
	refuse(s.Rates != nil && f.ends == endGoodbye, "machines that fail say no goodbye: leave --ends out")
	refuse(s.Rates != nil && f.compareSim && (len(e.Fairnesses) > 0 || len(e.Chunkings) > 0), "simulated machines impose no rates, and policies alone know no fairness and chunking: leave --compare-sim out")
	refuse(s.Warmup != 0, "a swarm reports all of its time: leave the warm-up out")
	refuse(s.Hosts.Slots > 1 && s.Hosts.Slots != slots, "say the slots with --cores too")
	refuse(s.Rates != nil && s.Rates.Overhead != 0, "nodes take their own time for each task beside its work: leave the overhead out")
	refuse(s.Rates != nil && slots > 1, "rates are of one task at a time: leave --cores out")
	if len(not) > 0 {
		return nil, nil, failure.Usage("change the scenario, or simulate it", "%s: %s", f.scenario, strings.Join(not, "; "))
	}
	for _, s := range grid {
		s.Hosts.Slots, s.Watch = slots, nil
	}
	if !s.End.IsZero() && !f.minutesGiven {
		f.minutes = 0
	}
	published = map[string][]float64{}
	for _, p := range e.Published {
		published[p.Placement] = p.Response
	}
	return grid, published, nil
}
