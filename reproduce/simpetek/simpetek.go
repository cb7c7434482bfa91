// Package simpetek has the experiments of Karaduman 2010 on the size of chunks, run by the
// simulator of package sweep. docs/spec/simpetek.md is what the thesis specifies.
package simpetek

import (
	"fmt"
	"math"
	"time"

	"godwit/reproduce"
	"godwit/reproduce/simpetek/sweep"
	"godwit/scheduler/chunk"
)

// Experiments returns the experiments of G. Karaduman's M.Sc. thesis on the scheduler of
// Sim-PETEK (METU, September 2010): its worked example, its three groups of
// measurements, and beside them what each policy does on tasks of milliseconds.
func Experiments() []reproduce.Experiment {
	return []reproduce.Experiment{
		experiment("example", "The worked example", "chapter 3", 1, workedExample),
		experiment("group1", "Rounds, and the five schedulers", "section 5.2.2.1, Figs 5.7-5.12", groupSeeds, group1),
		experiment("group2", "ISSSE and the calibrated scheduler", "section 5.2.2, Fig 5.14", groupSeeds, group2),
		experiment("group3", "Adaptivity", "section 5.2.2", groupSeeds, group3),
		experiment("live", "100,000 tasks of 5 ms by every policy", "the project's own", fewSeeds, live),
	}
}

// A cluster is that of section 5.2.1: so many nodes of 16, 4 and 2 cores, which run 15,
// 4 and 1 trials at once.
type cluster struct{ of16, of4, of2 int }

var (
	allNodes    = cluster{5, 6, 4} // as listed; the text says 16 nodes, and these are 15
	group3Nodes = cluster{3, 2, 1} // of group 3
)

// What the thesis does not give, and is chosen here: seconds of a trial on a core by the
// kind of node, by how much nodes of one kind differ, how much trials differ, and what a
// chunk costs.
const (
	tau16         = 1.0
	tau4          = 0.8
	tau2          = 0.6
	nodesDiffer   = 0.2
	trialSpread   = 0.2
	chunkOverhead = 200 * time.Millisecond
)

// fewSeeds is the number of runs of each request in the live experiment and the comparison
// mode. groupSeeds is that of the groups of measurements: ties of a percent decide there,
// and the verdicts of three runs change with the seeds.
const (
	fewSeeds   = 3
	groupSeeds = 12
)

// differBy has by what part of nodesDiffer each node of a kind differs.
var differBy = []float64{0, 1, -1, 0.5, -0.5, 0.25}

func (c cluster) nodes() []sweep.Node {
	var out []sweep.Node
	add := func(n, cores, slots int, tau float64) {
		for i := range n {
			t := tau * (1 + nodesDiffer*differBy[i%len(differBy)])
			out = append(out, sweep.Node{Name: fmt.Sprintf("%d-core %d", cores, i+1), Cores: cores, Slots: slots,
				Time: time.Duration(t * float64(time.Second))})
		}
	}
	add(c.of16, 16, 15, tau16)
	add(c.of4, 4, 4, tau4)
	add(c.of2, 2, 1, tau2)
	return out
}

// sayPetek says what was chosen.
func (b *bench) sayChosen(c cluster) {
	b.Say("%d nodes: %d of 16 cores (15 slots), %d of 4 (4), %d of 2 (1); nobody's speed is told", c.of16+c.of4+c.of2,
		c.of16, c.of4, c.of2)
	b.Say("chosen, as nothing is published: a trial takes %g, %g and %g s on a core of these, nodes of a kind differ by "+
		"up to %g %%, trials by a coefficient of variation of %g (gamma); a chunk costs %v",
		tau16, tau4, tau2, 100*nodesDiffer, trialSpread, chunkOverhead)
	b.Say("means of %d runs, seeds %d to %d", b.seeds, b.Seed, b.Seed+uint64(b.seeds)-1)
}

// A request is one of the thesis's simulation requests, by one scheduler.
type request struct {
	policy       string
	runs, trials int
	fixed        triple // plan of fixedShares that hold the policy; zero for none
}

// scenario is one run of the request.
func (r request) scenario(nodes []sweep.Node, seed uint64) *sweep.Scenario {
	s := &sweep.Scenario{Policy: r.policy, Runs: int64(r.runs), Trials: r.trials, Nodes: nodes, Chunk: chunkOverhead,
		Spread: trialSpread, Seed: seed}
	if r.fixed.peak > 0 {
		s.Wrap = func(p chunk.Policy) chunk.Policy { return newFixedShares(p, r.fixed, int64(r.runs)) }
	}
	return s
}

// An swept is the mean of some runs.
type swept struct {
	makespan, bound  float64 // seconds
	low, high        float64 // the least and the greatest makespan
	spread, optimal  float64 // relative spread of finishes; mean finish over the last
	chunks, copies   float64
	busy, dup, redun float64 // of the nodes' time
	waiting, idle    float64
}

// requests runs each request with every seed, and returns what came of each.
func (b *bench) requests(nodes []sweep.Node, rs []request) (map[request]swept, error) {
	var ss []*sweep.Scenario
	for _, r := range rs {
		for k := range b.seeds {
			ss = append(ss, r.scenario(nodes, b.Seed+uint64(k)))
		}
	}
	reports, err := reproduce.RunAll(&b.Options, ss, sweep.Run)
	if err != nil {
		return nil, err
	}
	out := map[request]swept{}
	for i, r := range rs {
		out[r] = meanSwept(reports[i*b.seeds : (i+1)*b.seeds])
	}
	return out, nil
}

func meanSwept(rs []*sweep.Report) swept {
	o := swept{low: math.Inf(1)}
	n := float64(len(rs))
	for _, r := range rs {
		t := r.Makespan.Seconds()
		all := t * float64(len(r.Nodes)) * n
		part := func(of func(*sweep.NodeReport) time.Duration) float64 { return r.Sum(of).Seconds() / all }
		o.makespan += t / n
		o.bound += r.Bound.Seconds() / n
		o.low, o.high = min(o.low, t), max(o.high, t)
		o.spread += r.RelativeSpread() / n
		o.optimal += r.Optimality() / n
		o.chunks += float64(r.Chunks) / n
		o.copies += float64(r.Copies) / n
		o.busy += part(func(x *sweep.NodeReport) time.Duration { return x.Busy })
		o.dup += part(func(x *sweep.NodeReport) time.Duration { return x.Duplicate })
		o.redun += part(func(x *sweep.NodeReport) time.Duration { return x.Redundant })
		o.waiting += part(func(x *sweep.NodeReport) time.Duration { return x.Waiting })
		o.idle += part(func(x *sweep.NodeReport) time.Duration { return x.Idle })
	}
	return o
}

// triple is a plan of SSSE or ISSSE, as the thesis names it.
type triple struct {
	peak, k int
	m       float64
}

// triples are those of group 1.
var triples = []triple{{1, 3, 2}, {1, 5, 3.3}, {2, 15, 10.5}, {3, 30, 20.3}, {5, 50, 33}}

func (t triple) of(name, more string) string {
	return fmt.Sprintf("%s:peak=%d,k=%d,m=%g%s", name, t.peak, t.k, t.m, more)
}

// The thesis does not say what becomes of a share below half a run. Its worked example has
// no chunk for it; Figs 5.9 to 5.12, where all nodes end nearly together, need a run. The
// groups of measurements go by the second reading. Group 1 is run by the first, too.
var readings = []struct{ name, more string }{
	{"a share below half a run is one", ",least=1"},
	{"a share below half a run is none", ""},
}

// bench is what an experiment works on, with the judgements of this publication.
type bench struct {
	*reproduce.Bench
	seeds int // runs of each request
}

func experiment(name, title, where string, seeds int, do func(*bench) error) reproduce.Experiment {
	run := func(b *reproduce.Bench) error { return do(&bench{b, seeds}) }
	return reproduce.Experiment{Name: name, Title: title, Where: where, Do: run}
}
