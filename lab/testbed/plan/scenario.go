package plan

import (
	"errors"
	"strings"

	"godwit/internal/failure"
	"godwit/lab/files"
	"godwit/lab/traces"
	"godwit/sim"
	"godwit/sim/scenario"
	"godwit/trace"
)

// fromFile reads a scenario file: a scenario for each pair of policies, which share
// all else. It refuses what real nodes on one machine do not do. What simulated ones
// do not do either is told later.
func (f *Options) fromFile(slots int) (grid []*sim.Scenario, published map[string][]float64, err error) {
	e, err := Scenario(f.Scenario)
	if err != nil {
		return nil, nil, err
	}
	verb := replayVerb
	if f.Classes {
		verb = classesVerb
	}
	if err := CheckVerb(e, f.Scenario, verb); err != nil {
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
	refuse(s.Rates != nil && f.CompareSim && (len(e.Fairnesses) > 0 || len(e.Chunkings) > 0),
		"simulated machines impose no rates, and policies alone know no fairness and chunking: leave --compare-sim out")
	refuse(s.Warmup != 0, "a swarm reports all of its time: leave the warm-up out")
	refuse(s.Hosts.Slots > 1 && s.Hosts.Slots != slots, "say the slots with --cores too")
	refuse(s.Rates != nil && s.Rates.Overhead != 0,
		"nodes take their own time for each task beside its work: leave the overhead out")
	if len(not) > 0 {
		return nil, nil, failure.Usage("change the scenario, or simulate it", "%s: %s", f.Scenario, strings.Join(not, "; "))
	}
	for _, s := range grid {
		s.Hosts.Slots, s.Watch = slots, nil
	}
	if f.Past == 0 {
		f.Past = e.Past
	}
	if !s.End.IsZero() && !f.MinutesGiven {
		f.Minutes = 0
	}
	published = map[string][]float64{}
	for _, p := range e.Published {
		published[p.Placement] = p.Response
	}
	return grid, published, nil
}

// Scenario reads a scenario file of a test-bed.
func Scenario(path string) (*scenario.Experiment, error) {
	return files.Scenario(path,
		func(file string) (*trace.Trace, error) { return traces.Read(file, trace.ReadOptions{}) },
		func(string) (*trace.Workload, error) {
			return nil, errors.New("a swarm replays no workload log: use classes")
		})
}

// The sub-verbs that play a scenario file.
const (
	replayVerb  = "replay"
	classesVerb = "classes"
	SitesVerb   = "sites"
)

// CheckVerb reports with an error that a scenario is another sub-verb's.
func CheckVerb(e *scenario.Experiment, file, verb string) error {
	of, has := replayVerb, "neither rates nor sites"
	switch {
	case len(e.Owners.Sites) > 0:
		of, has = SitesVerb, "sites"
	case e.Base.Rates != nil:
		of, has = classesVerb, "rates of classes"
	}
	if of == verb {
		return nil
	}
	return failure.Usage("say `godwit swarm "+of+"`", "%s: the scenario has %s, and `godwit swarm %s` plays another kind",
		file, has, verb)
}
