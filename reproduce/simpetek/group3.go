package simpetek

import (
	"fmt"
	"slices"
	"time"

	"godwit/reproduce/simpetek/sweep"
)

// slowedTo are what the program of group 3, which runs 30 s of every 40, may leave of
// a node: the thesis does not say.
var slowedTo = []struct {
	name  string
	speed float64
}{{"half", 0.5}, {"a quarter", 0.25}}

// A rival is what the scheduler that does not adapt may be. The thesis calls it "a
// nonadaptive version of ISSSE" whose chunks go by cores. It says neither whether a node
// that is idle takes more than its share of a round, nor whether last chunks are done again.
type rival struct {
	name, policy string
	fixed        bool // no node takes more than its share of a round
}

var rivals = []rival{
	{"each node has its share of each round by cores, with redistribution", "issse", true},
	{"each node has its share of each round by cores, without redistribution", "ssse", true},
	{"whoever is idle takes the next chunk, with redistribution", "issse", false},
	{"whoever is idle takes the next chunk, without redistribution", "ssse", false},
}

// of returns the rival's request in the place of an adaptive one with a plan.
func (v rival) of(r request, plan triple, more string) request {
	r.policy = plan.of(v.policy, more) + ",adaptive=off"
	if v.fixed {
		// fixedShares decides on the size, of which the policy takes all.
		r.policy, r.fixed = plan.of(v.policy, fmt.Sprintf(",least=%d,adaptive=off", r.runs)), plan
	}
	return r
}

// group3 compares ISSSE with what it is without learning, on nodes that are
// disturbed.
func group3(b *bench) error {
	b.FirstSeed = b.Seed
	b.sayChosen(group3Nodes)
	b.Say("the nodes of 4 and 2 cores are disturbed for the first 30 s of every 40; the phase and what is left of a " +
		"node are not published")
	b.Say("plans, of which nothing is published: (2, 15, 10.5) to 400 runs, (3, 30, 20.3) above; %s", readings[0].name)
	calm := group3Nodes.nodes()
	undisturbed, err := b.gains(calm)
	if err != nil {
		return err
	}
	for _, left := range slowedTo {
		nodes := group3Nodes.nodes()
		for i := range nodes {
			if nodes[i].Cores < 16 {
				nodes[i].Slowed = sweep.Slowed{Every: 40 * time.Second, For: 30 * time.Second, Speed: left.speed}
			}
		}
		gains, err := b.gains(nodes)
		if err != nil {
			return err
		}
		for k := range rivals {
			b.adaptive(rivals[k], left.name, gains[k], undisturbed[k])
		}
	}
	return nil
}

// gains runs the 12 cases of group 3, and returns by how many percent adaptive ISSSE is
// faster than each rival in each.
func (b *bench) gains(nodes []sweep.Node) ([][]float64, error) {
	var learning []request
	var plans []triple
	for _, s := range []int{100, 400, 1000, 2000} {
		plan := triples[2]
		if s > 400 {
			plan = triples[3]
		}
		for _, m := range []int{20, 50, 100} {
			learning = append(learning, request{policy: plan.of("issse", readings[0].more), runs: s, trials: m})
			plans = append(plans, plan)
		}
	}
	rs := slices.Clone(learning)
	for i, r := range learning {
		for _, v := range rivals {
			rs = append(rs, v.of(r, plans[i], readings[0].more))
		}
	}
	got, err := b.requests(nodes, rs)
	if err != nil {
		return nil, err
	}
	out := make([][]float64, len(rivals))
	for i, r := range learning {
		for k, v := range rivals {
			out[k] = append(out[k], 100*(1-got[r].makespan/got[v.of(r, plans[i], readings[0].more)].makespan))
		}
	}
	return out, nil
}

// adaptive judges the gains over a rival, beside those where no node is disturbed.
func (b *bench) adaptive(v rival, left string, gains, undisturbed []float64) {
	faster := 0
	for _, g := range gains {
		if g > 0 {
			faster++
		}
	}
	calm := fmt.Sprintf("without the disturbance %.1f to %.1f %%", slices.Min(undisturbed), slices.Max(undisturbed))
	b.Trend(fmt.Sprintf("adaptive ISSSE faster than not; %s; %s of a node is left", v.name, left), "in 12 of 12 cases",
		fmt.Sprintf("in %d of %d, %.1f to %.1f %%", faster, len(gains), slices.Min(gains), slices.Max(gains)),
		faster == len(gains), calm+": shares by cores are wrong for nodes whose speeds and slots differ, disturbed or not",
		"whoever is idle takes the next chunk, adaptive or not, so that sizes matter at the end alone, which redistribution "+
			"mends, too; the rows of rivals that hold nodes to their shares suggest that the thesis's did; "+calm)
}
