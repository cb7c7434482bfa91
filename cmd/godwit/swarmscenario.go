package main

import (
	"errors"
	"strings"

	"godwit/sim"
	"godwit/trace"
)

// fromFile reads the one run of a scenario file, and refuses what real nodes
// on one machine do not do. What simulated ones do not do either is told later.
func (f *replayFlags) fromFile(slots int) (*sim.Scenario, error) {
	e, err := readScenario(f.scenario,
		func(file string) (*trace.Trace, error) { return readTrace(file, trace.ReadOptions{}) },
		func(string) (*trace.Workload, error) {
			return nil, errors.New("a swarm replays no workload log: use classes")
		})
	if err != nil {
		return nil, err
	}
	grid, err := e.Grid()
	if err != nil {
		return nil, err
	}
	s := *grid[0]
	var not []string
	refuse := func(wrong bool, what string) {
		if wrong {
			not = append(not, what)
		}
	}
	refuse(len(grid) != 1, "a swarm plays one run: give one policy of each kind and one seed, and choose it with --seed")
	refuse(s.Hosts.Owner != sim.Suspend, "the nodes' owners suspend tasks: set owner to suspend")
	refuse(s.Hosts.Speeds != sim.Uniform, "a waiting task takes as long on every host: set speeds to uniform")
	refuse(s.Rates != nil, "the nodes' tasks take the same time on every host: leave rates out")
	refuse(s.Warmup != 0, "a swarm reports all of its time: leave the warm-up out")
	refuse(s.Hosts.Slots > 1 && s.Hosts.Slots != slots, "say the slots with --cores too")
	if len(not) > 0 {
		return nil, usage("change the scenario, or simulate it", "%s: %s", f.scenario, strings.Join(not, "; "))
	}
	s.Hosts.Slots, s.Watch = slots, nil
	return &s, nil
}
