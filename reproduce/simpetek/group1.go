package simpetek

import (
	"fmt"
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
}

func families(more string) []family {
	byRounds := func(name, more, published string, rounds []int) family {
		f := family{name: name, rounds: rounds, published: published}
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
		byRounds("amrs", "", "2, 5, 5", syncRounds),
		byRounds("amra", "", "3, 8, 15 or 20", asyncRounds),
		byRounds("samra", more, "2, 10, 15", asyncRounds),
		byPlan("ssse"), byPlan("issse"),
	}
}

// group1 is group 1: how many rounds are best, and the order of the schedulers.
func group1(b *bench) error {
	b.FirstSeed = b.Seed
	b.sayChosen(allNodes)
	for i, reading := range readings {
		judged := families(reading.more)
		if i > 0 {
			judged = judged[2:] // the others do not change
		}
		var rs []request
		for _, f := range families(reading.more) {
			for _, p := range f.policies {
				for _, m := range group1Trials {
					for _, s := range group1Runs {
						rs = append(rs, request{p, s, m})
					}
				}
			}
		}
		for _, c := range largeCases {
			for _, p := range fifteen(reading.more) {
				rs = append(rs, request{p, c[0], c[1]})
			}
		}
		got, err := b.requests(allNodes.nodes(), rs)
		if err != nil {
			return err
		}
		for _, f := range judged {
			b.bestRounds(f, got, reading.name)
		}
		b.atFifteen(got, reading.name, reading.more)
		b.atLarge(got, reading.name, reading.more)
		b.spreads(got, reading.name, reading.more)
	}
	return nil
}

// bestRounds judges which number of rounds is best, by makespans over their bounds,
// means over the numbers of trials.
func (b *bench) bestRounds(f family, got map[request]swept, reading string) {
	var best []int
	var text []string
	var worse []string // past the best
	rise := true
	row := func(s int) []float64 {
		var xs []float64
		for _, p := range f.policies {
			x := 0.0
			for _, m := range group1Trials {
				o := got[request{p, s, m}]
				x += o.makespan / o.bound / float64(len(group1Trials))
			}
			xs = append(xs, x)
		}
		return xs
	}
	fig := reproduce.Figure{Name: "simpetek-rounds-" + f.name, Title: "Rounds of " + strings.ToUpper(f.name) + " (" +
		reading + ")", X: "rounds", Y: "makespan over its bound"}
	for _, s := range group1Runs {
		xs := row(s)
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
	if strings.HasPrefix(f.name, "s") || strings.HasPrefix(f.name, "i") {
		name += ", " + reading
	}
	grows := slices.IsSorted(best) && best[len(best)-1] > best[0]
	b.Trend(name+": best rounds at 100, 400, 800 runs", f.published, strings.Join(text, ", "), grows,
		"more are best of more runs; which depends on speeds and costs, which are not published",
		"makespans over their bounds by k, of which those at few runs are about the same: "+describeCurves(fig))
	b.Trend(name+": time past the best", "rises", "with the most rounds "+strings.Join(worse, ", "), rise, "",
		"with these costs more rounds than the best lose little: "+describeCurves(fig))
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
func (b *bench) atFifteen(got map[request]swept, reading, more string) {
	first, cases := 0, 0
	var lost []string
	for _, m := range group1Trials {
		for _, s := range group1Runs {
			cases++
			var ts []float64
			for _, p := range fifteen(more) {
				ts = append(ts, got[request{p, s, m}].makespan)
			}
			if ts[0] <= slices.Min(ts) {
				first++
			} else {
				lost = append(lost, fmt.Sprintf("MC%dNumberOfRuns%d: %s", m, s, times(ts)))
			}
		}
	}
	b.Trend("Fig 5.7, 15 rounds, "+reading+": ISSSE is the best of four", "in most of 6 cases",
		fmt.Sprintf("in %d of %d", first, cases), 2*first > cases, "",
		"slow nodes, whose shares are below half a run, wait while runs remain, and the fewer runs a round has, the more "+
			"nodes; by the other reading they do not: "+strings.Join(lost, "; "))
}

func times(ts []float64) string {
	var out []string
	for i, t := range ts {
		out = append(out, fmt.Sprintf("%s %.1f", fifteenNames[i], t))
	}
	return strings.Join(out, ", ") + " s"
}

// atLarge is Fig 5.8.
func (b *bench) atLarge(got map[request]swept, reading, more string) {
	for _, c := range largeCases {
		var ts []float64
		half := 0.0 // of the widest range over seeds
		for _, p := range fifteen(more) {
			o := got[request{p, c[0], c[1]}]
			ts = append(ts, o.makespan)
			half = max(half, (o.high-o.low)/2)
		}
		b.Trend(fmt.Sprintf("Fig 5.8, MC%dNumberOfRuns%d, %s", c[1], c[0], reading), "ISSSE < SSSE < SAMRA < AMRA", times(ts),
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
func (b *bench) spreads(got map[request]swept, reading, more string) {
	var xs []float64
	var text []string
	for i, p := range fifteen(more) {
		x := 0.0
		for _, m := range group1Trials {
			x += got[request{p, 800, m}].spread / float64(len(group1Trials))
		}
		xs = append(xs, x)
		text = append(text, fmt.Sprintf("%s %.0f %%", fifteenNames[i], 100*x))
	}
	b.Trend("Figs 5.9-5.12, finish times, "+reading, "SSSE and ISSSE nearly equal, SAMRA closer than AMRA",
		strings.Join(text, ", "), max(xs[0], xs[1]) < xs[2] && xs[2] < xs[3],
		"from the first node's last finish to the last one's, over the latter; 800 runs, 15 rounds",
		"slow nodes, whose shares are below half a run, end early; by the other reading they do not")
}
