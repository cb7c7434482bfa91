package simpetek

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"godwit/reproduce/simpetek/sweep"
)

// slowedTo are what the program of group 3, which runs 30 s of every 40, may leave of
// a node: the thesis does not say.
var slowedTo = []struct {
	name  string
	speed float64
}{{"half", 0.5}, {"a quarter", 0.25}}

// rigidPolicies are what the scheduler that does not adapt may be: the thesis does not say
// whether it still has the last chunks done again.
var rigidPolicies = []struct{ name, policy string }{{"with redistribution", "issse"},
	{"without redistribution", "ssse"}}

// group3 compares ISSSE with what it is without learning, on nodes that are
// disturbed.
func group3(b *bench) error {
	b.FirstSeed = b.Seed
	b.sayChosen(group3Nodes)
	b.Say("the nodes of 4 and 2 cores are disturbed for the first 30 s of every 40; the phase and what is left of a " +
		"node are not published")
	b.Say("plans, of which nothing is published: (2, 15, 10.5) to 400 runs, (3, 30, 20.3) above")
	for _, left := range slowedTo {
		nodes := group3Nodes.nodes()
		for i := range nodes {
			if nodes[i].Cores < 16 {
				nodes[i].Slowed = sweep.Slowed{Every: 40 * time.Second, For: 30 * time.Second, Speed: left.speed}
			}
		}
		for _, reading := range readings {
			if err := b.adaptive(nodes, left.name, reading.name, reading.more); err != nil {
				return err
			}
		}
	}
	return nil
}

// adaptive runs the 12 cases of group 3 by one reading, and judges them.
func (b *bench) adaptive(nodes []sweep.Node, left, reading, more string) error {
	var learning []request
	for _, s := range []int{100, 400, 1000, 2000} {
		plan := triples[2]
		if s > 400 {
			plan = triples[3]
		}
		for _, m := range []int{20, 50, 100} {
			learning = append(learning, request{plan.of("issse", more), s, m})
		}
	}
	rigid := func(r request, policy string) request {
		_, plan, _ := strings.Cut(r.policy, ":")
		r.policy = policy + ":" + plan + ",adaptive=off"
		return r
	}
	rs := slices.Clone(learning)
	for _, r := range learning {
		for _, off := range rigidPolicies {
			rs = append(rs, rigid(r, off.policy))
		}
	}
	got, err := b.requests(nodes, rs)
	if err != nil {
		return err
	}
	for _, off := range rigidPolicies {
		var gains []float64
		faster := 0
		for _, r := range learning {
			gain := 100 * (1 - got[r].makespan/got[rigid(r, off.policy)].makespan)
			gains = append(gains, gain)
			if gain > 0 {
				faster++
			}
		}
		b.Trend(fmt.Sprintf("adaptive ISSSE faster than not, %s; %s of a node is left; %s", off.name, left, reading),
			"in 12 of 12 cases",
			fmt.Sprintf("in %d of %d, %.1f to %.1f %%", faster, len(gains), slices.Min(gains), slices.Max(gains)),
			faster == len(gains), "",
			"adaptive or not, whoever is idle gets the next chunk: sizes matter at the end alone, which redistribution mends "+
				"too, and where shares below half a run are none slow nodes wait at the end in both; without both of these it is "+
				"faster in all 12")
	}
	return nil
}
