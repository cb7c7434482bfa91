package simpetek

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"godwit/reproduce"
)

var (
	group1Trials = []int{20, 50}
	group1Runs   = []int{100, 400, 800}
	syncRounds   = []int{2, 3, 5, 8, 10}
	asyncRounds  = []int{2, 3, 5, 8, 10, 15, 20, 30, 40, 50, 60, 80, 100}
	// largeCases are the extra cases of Fig 5.8: runs, trials.
	largeCases = [][2]int{{1000, 50}, {2000, 50}, {2000, 80}, {2000, 100}}
)

// A family is one scheduler with its parameters from the fewest rounds to the most.
type family struct {
	name      string
	rounds    []int    // what each has: A, or k
	policies  []string // a specification each
	published string   // the best at 100, 400 and 800 runs
	best      [][]int  // the same in numbers, where they are published: any of them
}

func families(more string) []family {
	byRounds := func(name, more, published string, rounds []int, best ...[]int) family {
		f := family{name: name, rounds: rounds, published: published, best: best}
		for _, a := range rounds {
			f.policies = append(f.policies, fmt.Sprintf("%s:rounds=%d%s", name, a, more))
		}
		return f
	}
	byPlan := func(name string) family {
		f := family{name: name, published: "small k at few runs, larger as they grow"}
		for _, t := range triples {
			f.rounds = append(f.rounds, t.k)
			f.policies = append(f.policies, t.of(name, more))
		}
		return f
	}
	return []family{
		byRounds("amrs", "", "2, 5, 5", syncRounds, []int{2}, []int{5}, []int{5}),
		byRounds("amra", "", "3, 8, 15 or 20", asyncRounds, []int{3}, []int{8}, []int{15, 20}),
		byRounds("samra", more, "2, 10, 15", asyncRounds, []int{2}, []int{10}, []int{15}),
		byPlan("ssse"), byPlan("issse"),
	}
}

// group1 is group 1: how many rounds are best, and the order of the schedulers. What the
// other reading of small shares gives is a table, and is not judged.
func group1(b *bench) error {
	b.FirstSeed = b.Seed
	b.sayChosen(allNodes)
	b.Say("%s run, by Figs 5.9-5.12; by the other reading, none, see the table", readings[0].name)
	if err := b.readGroup1(readings[0].more); err != nil {
		return err
	}
	other := &bench{&reproduce.Bench{Options: b.Options}, b.seeds}
	if err := other.readGroup1(readings[1].more); err != nil {
		return err
	}
	table := reproduce.Table{Experiment: "group1", Title: "not judged, the other reading: " + readings[1].name,
		Header: []string{"FIGURE", "PUBLISHED", "OBTAINED"}}
	for _, c := range other.Cells {
		table.Rows = append(table.Rows, []string{c.Cell, c.Published, c.Obtained})
	}
	b.Tables = append(b.Tables, table)
	return nil
}

// readGroup1 runs group 1 by a reading of small shares, and judges it.
func (b *bench) readGroup1(more string) error {
	var rs []request
	for _, f := range families(more) {
		for _, p := range f.policies {
			for _, m := range group1Trials {
				for _, s := range group1Runs {
					rs = append(rs, request{policy: p, runs: s, trials: m})
				}
			}
		}
	}
	for _, c := range largeCases {
		for _, p := range fifteen(more) {
			rs = append(rs, request{policy: p, runs: c[0], trials: c[1]})
		}
	}
	got, err := b.requests(allNodes.nodes(), rs)
	if err != nil {
		return err
	}
	for _, f := range families(more) {
		b.bestRounds(f, got)
	}
	b.atFifteen(got, more)
	b.atLarge(got, more)
	b.spreads(got, more)
	return nil
}

// bestRounds judges which number of rounds is best, by makespans over their bounds,
// means over the numbers of trials.
func (b *bench) bestRounds(f family, got map[request]swept) {
	var best []int
	var text []string
	var worse []string // past the best
	rise := true
	var costs []float64 // of the published numbers of rounds, over the best ones
	row := func(s int) []float64 {
		var xs []float64
		for _, p := range f.policies {
			x := 0.0
			for _, m := range group1Trials {
				o := got[request{policy: p, runs: s, trials: m}]
				x += o.makespan / o.bound / float64(len(group1Trials))
			}
			xs = append(xs, x)
		}
		return xs
	}
	fig := reproduce.Figure{Name: "simpetek-rounds-" + f.name, Title: "Rounds of " + strings.ToUpper(f.name),
		X: "rounds", Y: "makespan over its bound"}
	for k, s := range group1Runs {
		xs := row(s)
		if f.best != nil {
			costs = append(costs, costOf(f, xs, f.best[k]))
		}
		i := slices.Index(xs, slices.Min(xs))
		best = append(best, f.rounds[i])
		text = append(text, fmt.Sprint(f.rounds[i]))
		last := xs[len(xs)-1] / xs[i]
		rise = rise && last > 1.01
		worse = append(worse, fmt.Sprintf("%+.0f %%", 100*(last-1)))
		c := reproduce.Curve{Name: fmt.Sprintf("%d runs", s)}
		for k, a := range f.rounds {
			c.X, c.Y = append(c.X, float64(a)), append(c.Y, xs[k])
		}
		fig.Curves = append(fig.Curves, c)
	}
	b.Figures = append(b.Figures, fig)
	name := strings.ToUpper(f.name)
	grows := slices.IsSorted(best) && best[len(best)-1] > best[0]
	why := "makespans over their bounds by rounds, of which those at few runs are about the same: " + describeCurves(fig)
	if f.best != nil {
		b.judgeBest(name+": best rounds at 100, 400, 800 runs", f, best, costs)
	}
	b.Trend(name+": the more runs, the more rounds are best", f.published, strings.Join(text, ", "), grows, "", why)
	b.Trend(name+": time past the best", "rises", "with the most rounds "+strings.Join(worse, ", "), rise, "",
		"with these costs more rounds than the best lose little: "+describeCurves(fig))
}

// flat is by what part makespans may differ that count as the same.
const flat = 0.01

// costOf is by what part the makespan of the best of some published numbers of rounds is
// above the least of all.
func costOf(f family, makespans []float64, published []int) float64 {
	least := math.Inf(1)
	for _, n := range published {
		least = min(least, makespans[slices.Index(f.rounds, n)])
	}
	return least/slices.Min(makespans) - 1
}

// judgeBest judges best numbers of rounds: Equal if they are the published ones, and Within
// if the published ones are as good.
func (b *bench) judgeBest(cell string, f family, best []int, costs []float64) {
	equal := true
	var text, above []string
	for k, n := range best {
		equal = equal && slices.Contains(f.best[k], n)
		text = append(text, fmt.Sprint(n))
		above = append(above, fmt.Sprintf("%.1f %%", 100*costs[k]))
	}
	obtained, over := strings.Join(text, ", "), "makespans at the published numbers are "+strings.Join(above, ", ")+
		" above the least"
	switch {
	case equal:
		b.Add(reproduce.Equal, cell, f.published, obtained, "")
	case slices.Max(costs) <= flat:
		b.Add(reproduce.Within, cell, f.published, obtained, fmt.Sprintf("within %g %% of the time: %s", 100*flat, over))
	default:
		b.Add(reproduce.Differs, cell, f.published, obtained, over+"; which number is best depends on nodes' speeds and on "+
			"what a chunk costs, which are not published")
	}
}

// describeCurves writes the curves of a figure.
func describeCurves(f reproduce.Figure) string {
	var out []string
	for _, c := range f.Curves {
		var ys []string
		for k, y := range c.Y {
			ys = append(ys, fmt.Sprintf("%g:%.2f", c.X[k], y))
		}
		out = append(out, c.Name+" "+strings.Join(ys, " "))
	}
	return strings.Join(out, "; ")
}

// fifteen are the schedulers of Figs 5.7 and 5.8, the best that is published first.
func fifteen(more string) []string {
	t := triples[2]
	return []string{t.of("issse", more), t.of("ssse", more), "samra:rounds=15" + more, "amra:rounds=15"}
}

var fifteenNames = []string{"ISSSE", "SSSE", "SAMRA", "AMRA"}

// atFifteen is Fig 5.7.
func (b *bench) atFifteen(got map[request]swept, more string) {
	first, cases := 0, 0
	var lost []string
	for _, m := range group1Trials {
		for _, s := range group1Runs {
			cases++
			var ts []float64
			for _, p := range fifteen(more) {
				ts = append(ts, got[request{policy: p, runs: s, trials: m}].makespan)
			}
			if ts[0] <= slices.Min(ts) {
				first++
			} else {
				lost = append(lost, fmt.Sprintf("MC%dNumberOfRuns%d: %s", m, s, times(ts)))
			}
		}
	}
	b.Trend("Fig 5.7, 15 rounds: ISSSE is the best of four", "in most of 6 cases",
		fmt.Sprintf("in %d of %d", first, cases), 2*first > cases, "",
		"where it is not, copies of last chunks cost more than they save: "+strings.Join(lost, "; "))
}

func times(ts []float64) string {
	var out []string
	for i, t := range ts {
		out = append(out, fmt.Sprintf("%s %.1f", fifteenNames[i], t))
	}
	return strings.Join(out, ", ") + " s"
}

// atLarge is Fig 5.8.
func (b *bench) atLarge(got map[request]swept, more string) {
	for _, c := range largeCases {
		var ts []float64
		half := 0.0 // of the widest range over seeds
		for _, p := range fifteen(more) {
			o := got[request{policy: p, runs: c[0], trials: c[1]}]
			ts = append(ts, o.makespan)
			half = max(half, (o.high-o.low)/2)
		}
		b.Trend(fmt.Sprintf("Fig 5.8, MC%dNumberOfRuns%d", c[1], c[0]), "ISSSE < SSSE < SAMRA < AMRA", times(ts),
			slices.IsSorted(ts), "15 rounds, as in Fig 5.7: which were run is not published",
			fmt.Sprintf("those out of order are %.1f %% apart at most; seeds are up to %.1f %% from their mean",
				100*disorder(ts), 100*half/ts[0]))
	}
}

// disorder is by what part a number is at most less than one before it.
func disorder(xs []float64) float64 {
	worst := 0.0
	for i, x := range xs {
		for _, y := range xs[i:] {
			worst = max(worst, x/y-1)
		}
	}
	return worst
}

// spreads is what Figs 5.9 to 5.12 show: how close nodes finish, at 800 runs.
func (b *bench) spreads(got map[request]swept, more string) {
	var xs []float64
	var text []string
	for i, p := range fifteen(more) {
		x := 0.0
		for _, m := range group1Trials {
			x += got[request{policy: p, runs: 800, trials: m}].spread / float64(len(group1Trials))
		}
		xs = append(xs, x)
		text = append(text, fmt.Sprintf("%s %.0f %%", fifteenNames[i], 100*x))
	}
	const over = "from the first node's last finish to the last one's, over the latter; 800 runs, 15 rounds"
	v, note := reproduce.Fitted, "the reading of shares below half a run was chosen by this; "+over
	if max(xs[0], xs[1]) > together {
		v, note = reproduce.Differs, "slow nodes, whose shares are below half a run, end early; "+over
	}
	b.Add(v, "Figs 5.9-5.12, finish times of SSSE and ISSSE", "nearly equal", strings.Join(text[:2], ", "), note)
	b.Trend("Figs 5.9-5.12, finish times", "SSSE and ISSSE closer than SAMRA, SAMRA closer than AMRA",
		strings.Join(text, ", "), max(xs[0], xs[1]) < xs[2] && xs[2] < xs[3], over,
		"but for ISSSE, whose copies bring its nodes together, differences are within what seeds make: the order is the "+
			"published one with the seeds 101 to 112, and not with 1 to 12")
}

// together is the spread of finish times that counts as nearly equal.
const together = 0.1
