// Package koala has the experiments of Grundeken 2009 on cycle scavenging, run by the
// simulator of package shares. docs/spec/koala.md is what the thesis specifies.
package koala

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"godwit/reproduce"
	"godwit/reproduce/koala/shares"
)

// Experiments returns the experiments of B. Grundeken, "Adding Cycle Scavenging Support
// to the Experiments Grid Resource Manager", MSc thesis, Delft University of Technology,
// 2009, in the order of its chapter 4.
func Experiments() []reproduce.Experiment {
	return []reproduce.Experiment{
		experiment("K1", "Launchers", "section 4.2, Table 4.1", launchers),
		experiment("K2", "Delay of local jobs", "section 4.3.1, Table 4.2", localDelays),
		experiment("K3", "Delay of grid jobs", "section 4.3.2, Table 4.3", gridDelays),
		experiment("K4", "Fairness between jobs", "section 4.4, Tables 4.4 and 4.5", fairness),
	}
}

// das3 is the testbed (Table 2.1). Speeds are by clock rate beside the Delft
// cluster's; a task keeps one core busy.
var das3 = []shares.Cluster{
	{Name: "VU", Nodes: 85, Speed: 1},
	{Name: "LU", Nodes: 32, Speed: 2.6 / 2.4},
	{Name: "UvA", Nodes: 41, Speed: 2.2 / 2.4},
	{Name: "TUD", Nodes: 68, Speed: 1},
	{Name: "UvA-MN", Nodes: 46, Speed: 1},
}

// delft is the cluster of the first two experiments.
var delft = das3[3:4]

// What starting a part costs on the testbed: the line through the means of Table
// 4.2 without cycle scavenging, 67.5 s + 0.61 s a part, less 60 s of run time.
const (
	dispatchTime = 610 * time.Millisecond
	startTime    = 7500 * time.Millisecond
)

// What the thesis does not give, and what is assumed here. Noticing that a node is
// free takes the local scheduler as long as starting something; clearing nodes takes
// a quarter of a second each, which gives the spread of Table 4.2; a grid job is
// claimed for as long as Tables 4.3 and 4.2 differ without cycle scavenging.
const (
	stopTime     = startTime
	stopEachTime = 250 * time.Millisecond
	claimTime    = 20 * time.Second
	taskTime     = 100 * time.Millisecond
	scanInterval = 5 * time.Second
	pollInterval = 10 * time.Second // section 3.2.1
)

// testbedCosts are those of the testbed.
var testbedCosts = shares.Costs{
	Dispatch: dispatchTime, Start: startTime, Claim: claimTime, Task: taskTime, Stop: stopTime, StopEach: stopEachTime,
}

// ourCosts are those of a network of members that are there: nothing is deployed. A
// placement is a round trip and the start of a sandbox, a task that is given up is
// gone within a second.
var ourCosts = shares.Costs{Start: 100 * time.Millisecond, Task: 250 * time.Millisecond, Stop: time.Second}

// launcherRuns is how many runs the thesis takes the mean of (section 4.2).
const launcherRuns = 5

// launchers is section 4.2: 1000 tasks of 30 s on 68 nodes, each submitted by
// itself, and by launchers that stay.
func launchers(b *bench) error {
	b.FirstSeed = b.Seed
	b.Say("one cluster of 68 nodes, nothing else on it; 1000 tasks of 30 s; means of %d runs with seeds from %d on",
		launcherRuns, b.Seed)
	b.Say("a start takes %v, one after the other, and %v: fitted to Table 4.2 without cycle scavenging, not to this "+
		"experiment", dispatchTime, startTime)
	ways := []*shares.Scenario{
		{Costs: testbedCosts, Direct: true, Scan: scanInterval},
		{Costs: testbedCosts, Scan: scanInterval},
		{Costs: ourCosts, Scan: time.Second},
		{Scan: time.Second},
	}
	var ss []*shares.Scenario
	for _, w := range ways {
		for k := range launcherRuns {
			s := *w
			s.Clusters, s.Policy, s.Poll, s.Bounded, s.Seed = delft, "fcfs", pollInterval, true, b.Seed+uint64(k)
			s.Bags = []shares.Bag{{Name: "dummy", Tasks: 1000, Work: 30 * time.Second}}
			ss = append(ss, &s)
		}
	}
	reports, err := reproduce.RunAll(&b.Options, ss, shares.Run)
	if err != nil {
		return err
	}
	makespan := func(way int) float64 {
		var sum float64
		for _, r := range reports[way*launcherRuns : (way+1)*launcherRuns] {
			sum += r.Bags[0].Makespan.Seconds()
		}
		return sum / launcherRuns
	}
	direct, stay, ours, ideal := makespan(0), makespan(1), makespan(2), makespan(3)
	b.Equal("ideal, makespan, s", "450.00", fmt.Sprintf("%.2f", ideal), "15 rounds of tasks that cannot be divided")
	b.Near("each task submitted by itself, makespan, s", 685.01, direct, "%.2f", 10,
		"the local scheduler starts one after the other, and that takes longer than a task")
	b.Near("launchers, makespan, s", 474.85, stay, "%.2f", 5, "most of it is the first start of each launcher")
	b.Near("each task submitted by itself, of ideal", 1.522, direct/ideal, "%.3f", 10, "")
	b.Near("launchers, of ideal", 1.055, stay/ideal, "%.3f", 5, "")
	b.Trend("launchers beside each task by itself", "shorter", fmt.Sprintf("%.0f s beside %.0f s", stay, direct),
		stay < direct, "", "")
	b.Own("members that are there already, of ideal", "at most 1.03 (our target)", fmt.Sprintf("%.3f", ours/ideal),
		ours <= 1.03*ideal,
		"follows from its costs, which are assumed: 0.1 s for a placement, 0.25 s between two tasks; real nodes decide", "")
	return nil
}

// delayRuns is how many runs of each kind the thesis takes the mean of.
const delayRuns = 5

// A delayCase is a row of Table 4.2 or 4.3.
type delayCase struct {
	parts, nodes  int
	without, with float64 // s
}

var (
	localCases = []delayCase{
		{1, 40, 67.932, 83.058}, {2, 20, 66.696, 95.931}, {4, 10, 68.586, 92.827},
		{10, 4, 76.076, 94.038}, {20, 2, 82.477, 94.978}, {40, 1, 90.188, 97.975},
	}
	gridCases = []delayCase{{4, 20, 91.425, 99.919}, {8, 10, 87.533, 87.428}, {16, 5, 141.150, 149.387}}
)

// filled is a scenario whose clusters a bag has filled long before a job comes.
func filled(clusters []shares.Cluster, seed uint64, c delayCase, on int) *shares.Scenario {
	const comes = 30 * time.Minute
	rng := rand.New(rand.NewPCG(seed, 1))
	return &shares.Scenario{
		Clusters: clusters, Policy: "gep:local=drastic", GiveUp: "random", Scan: scanInterval, Poll: pollInterval,
		Costs: testbedCosts, Seed: seed,
		Bags: []shares.Bag{{Name: "load", Tasks: 10_000, Work: time.Hour}},
		Higher: []shares.Higher{{
			At: comes + time.Duration(rng.Int64N(int64(scanInterval))), Cluster: on, Parts: c.parts, Nodes: c.nodes,
			Run: time.Minute,
		}},
		Until: comes + 10*time.Minute,
	}
}

// delays runs each case with and without bags, by what change makes of a scenario,
// and returns mean makespans in seconds.
func (b *bench) delays(cases []delayCase, clusters []shares.Cluster, on int,
	change func(*shares.Scenario)) (without, with []float64, err error) {
	var ss []*shares.Scenario
	for _, c := range cases {
		for k := range 2 * delayRuns {
			s := filled(clusters, b.Seed+uint64(k/2), c, on)
			change(s)
			if k%2 == 0 {
				s.Bags = nil
			}
			ss = append(ss, s)
		}
	}
	reports, err := reproduce.RunAll(&b.Options, ss, shares.Run)
	if err != nil {
		return nil, nil, err
	}
	without, with = make([]float64, len(cases)), make([]float64, len(cases))
	for i, r := range reports {
		to := without
		if i%2 == 1 {
			to = with
		}
		to[i/(2*delayRuns)] += r.Higher[0].Makespan.Seconds() / delayRuns
	}
	return without, with, nil
}

func asPublished(*shares.Scenario) {}

// asOurs is one lookout a cluster that sees an owner's work within a second, and
// tasks that stop at once.
func asOurs(s *shares.Scenario) {
	s.Policy, s.GiveUp, s.Together, s.Poll = "sep", "least-lost", true, time.Second
	s.Costs.Stop, s.Costs.StopEach = ourCosts.Stop, 0
}

// localDelays is section 4.3.1.
func localDelays(b *bench) error {
	b.FirstSeed = b.Seed
	b.Say("one cluster of 68 nodes filled by a bag; then a local job of 40 nodes for 60 s in parts; means of %d runs "+
		"with and as many without the bag, seeds from %d on", delayRuns, b.Seed)
	b.Say("local queues are looked at each %v; a node is free %v after it is ordered back, and one after the other "+
		"takes %v", pollInterval, stopTime, stopEachTime)
	without, with, err := b.delays(localCases, delft, 0, asPublished)
	if err != nil {
		return err
	}
	_, quick, err := b.delays(localCases, delft, 0, asOurs)
	if err != nil {
		return err
	}
	fig := reproduce.Figure{Name: "koala-local-delays", Title: "Table 4.2: added delay of local jobs", X: "parts", Y: "s"}
	curves := []reproduce.Curve{{Name: "published"}, {Name: "obtained"}, {Name: "one lookout, each second"}}
	longest, least := 0.0, math.Inf(1)
	var delays []float64
	for i, c := range localCases {
		at := fmt.Sprintf("%d × %d nodes, ", c.parts, c.nodes)
		b.Fit(at+"makespan without bags, s", c.without, without[i], "%.1f", 5, "costs are a line fitted to this column")
		added := with[i] - without[i]
		longest, least = max(longest, added), min(least, added)
		b.polls(at+"added delay, polls", (c.with-c.without)/pollInterval.Seconds(), added/pollInterval.Seconds())
		delays = append(delays, added)
		b.Own(at+"added delay, one lookout each second, s", "-", fmt.Sprintf("%.1f", quick[i]-without[i]),
			quick[i]-without[i] < max(added, 0.1),
			"less than as published: not in the thesis, which names frequent polls and a shared demand as remedies (chapter 5)",
			"")
		for k, y := range []float64{c.with - c.without, added, quick[i] - without[i]} {
			curves[k].X, curves[k].Y = append(curves[k].X, float64(c.parts)), append(curves[k].Y, y)
		}
	}
	fig.Curves = curves
	b.Figures = append(b.Figures, fig)
	b.Trend("no local job is delayed by 30 s", "7.9 s to 29.2 s", fmt.Sprintf("%.1f s to %.1f s", least, longest),
		longest < 30,
		"the printed differences of 4 × 10 and 40 × 1 do not match their columns; by these it is 7.8 s to 29.2 s", "")
	b.delayShape(delays)
	return nil
}

// whyDelays is the reason why delays do not peak at two parts.
const whyDelays = "in the model one poll orders back the nodes of all parts that wait, and the largest part waits " +
	"for the most nodes, so delay falls with the size of a part; the thesis does not explain why two parts of 20 " +
	"nodes wait for a poll and a half more than one of 40, and each of its figures is a mean of 5 runs without a " +
	"spread"

// delayShape compares how delay depends on the number of parts, from localCases's first to
// its last: published are a peak at two parts, and a fall from there on.
func (b *bench) delayShape(added []float64) {
	published := make([]float64, len(localCases))
	for i, c := range localCases {
		published[i] = c.with - c.without
	}
	write := func(ys []float64) string {
		var out []string
		for _, y := range ys {
			out = append(out, fmt.Sprintf("%.1f", y))
		}
		return strings.Join(out, " ") + " s"
	}
	peak := slices.Index(added, slices.Max(added))
	b.Trend("added delay by parts: the peak is at 2 × 20, and 1 × 40 lies below it", write(published), write(added),
		peak == slices.Index(published, slices.Max(published)), "", whyDelays)
	falls := slices.IsSortedFunc(added[1:], func(x, y float64) int { return cmp.Compare(y, x) })
	b.Trend("added delay by parts: it falls from 2 × 20 to 40 × 1", write(published[1:]), write(added[1:]),
		falls && added[len(added)-1] < added[1], "clearing nodes and starting parts go on side by side", "")
	first, last := added[0], added[len(added)-1]
	b.Trend("the finest parts are delayed less than the whole", "7.8 s and 15.1 s",
		fmt.Sprintf("%.1f s and %.1f s", last, first), last < first,
		"clearing nodes and starting parts go on side by side", "")
}

// halfPoll is how far, in polls, a delay may be from the published one: the mean wait for
// the next poll.
const halfPoll = 0.5

// polls judges a delay in units of the interval of polling.
func (b *bench) polls(cell string, published, obtained float64) {
	v, note := reproduce.Within, fmt.Sprintf("within %g polls, the mean wait for the next poll", halfPoll)
	if !(math.Abs(obtained-published) <= halfPoll) {
		v, note = reproduce.Differs, whyDelays
	}
	b.Add(v, cell, fmt.Sprintf("%.2f", published), fmt.Sprintf("%.2f", obtained), note)
}

// gridDelays is section 4.3.2. The scheduler itself has nodes given back as soon as
// it places a job, while that is still being claimed.
func gridDelays(b *bench) error {
	b.FirstSeed = b.Seed
	b.Say("five clusters of 272 nodes together filled by a bag; then a grid job of 80 nodes for 60 s in parts; means of "+
		"%d runs with and as many without the bag, seeds from %d on", delayRuns, b.Seed)
	b.Say("the scheduler scans each %v; a grid job is claimed for %v, by the difference of Tables 4.3 and 4.2",
		scanInterval, claimTime)
	without, with, err := b.delays(gridCases, das3, shares.Anywhere, asPublished)
	if err != nil {
		return err
	}
	longest := 0.0
	for i, c := range gridCases {
		at := fmt.Sprintf("%d × %d nodes, ", c.parts, c.nodes)
		if c.parts == 16 {
			b.Lost(at+"makespan without bags, s", fmt.Sprintf("%.1f", c.without),
				"50 s more than the other two without bags, which the thesis does not explain; only what bags add is judged")
		} else {
			b.Fit(at+"makespan without bags, s", c.without, without[i], "%.1f", 10, "the time of a claim is fitted to the "+
				"rows of 4 × 20 and 8 × 10")
		}
		added := with[i] - without[i]
		longest = max(longest, added)
		b.Trend(at+"added delay, s", fmt.Sprintf("%.1f", c.with-c.without), fmt.Sprintf("%.1f", added), added < 10,
			"judged by the claim that it is below 10 s", "")
	}
	b.Trend("no grid job is delayed by 10 s", "-0.1 s to 8.5 s", fmt.Sprintf("up to %.1f s", longest), longest < 10,
		"nodes are cleared while the job is claimed", "")
	return nil
}

// bench is what an experiment works on, with the judgements of this publication.
type bench struct{ *reproduce.Bench }

func experiment(name, title, where string, do func(*bench) error) reproduce.Experiment {
	run := func(b *reproduce.Bench) error { return do(&bench{b}) }
	return reproduce.Experiment{Name: name, Title: title, Where: where, Do: run}
}
