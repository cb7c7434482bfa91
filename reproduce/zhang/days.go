package zhang

import (
	"fmt"

	"godwit/reproduce"
	"godwit/sim"
	"godwit/trace"
)

// counts are Experiments's three, over the reported days: sums while runs come in,
// then means over replications.
type counts struct{ a, s, f float64 }

func (c *counts) add(r *sim.Report, runs int) {
	c.a += float64(r.Allocated) / float64(runs)
	c.s += float64(r.Succeeded) / float64(runs)
	c.f += float64(r.Failed) / float64(runs)
}

func (c counts) success() float64 { return rate(c.s, c.f) }

func (c counts) String() string { return fmt.Sprintf("%.0f/%.0f/%.0f", c.a, c.s, c.f) }

// column takes one figure of each of several counts.
func column(cs []counts, of func(counts) float64) []float64 {
	out := make([]float64, len(cs))
	for i, c := range cs {
		out[i] = of(c)
	}
	return out
}

func allocated(c counts) float64 { return c.a }
func succeeded(c counts) float64 { return c.s }
func failed(c counts) float64    { return c.f }

// replicas is how many times a set like the original is made, with seeds from
// Options.Seed on.
const replicas = 2

// replicas returns the set as supplied, or sets like it.
func (b *bench) replicas(name string, n int) ([]*set, error) {
	if b.Traces[name] != nil {
		n = 1
	}
	var out []*set
	for k := range n {
		s, err := b.set(name, trace.SynthConfig{Seed: b.Seed + uint64(k)})
		if err != nil {
			return nil, err
		}
		b.Say("%s", s.sizes())
		out = append(out, s)
	}
	return out, nil
}

// sweep runs each of the policies on each of the sets, and returns the mean
// counts of each policy.
func (b *bench) sweep(batch *reproduce.Batch, sets []*set, specs []string) []counts {
	out := make([]counts, len(specs))
	for k, s := range sets {
		for i, spec := range specs {
			batch.Add(s.scenario(spec, b.Seed+uint64(k)), func(r *sim.Report) { out[i].add(r, len(sets)) })
		}
	}
	return out
}

// mostDays is the largest N of the thesis.
const mostDays = 6

// checkingDays is section 7.2.1: FCFSPP with N = 1 to 6 checking days.
func checkingDays(b *bench) error {
	b.FirstSeed = b.Seed
	b.Say("T = 100 %%, jobs of 10 min, always one waiting; closing hours are departures; the first day is not reported; " +
		"means over the sets")
	b.Say("the published counts are several times lower than the time available: 65 to 73 of UCB's 80 resources for 9 " +
		"days of 7 h are 24,600 to 27,600 jobs of 10 min; why is not stated")
	for _, c := range []struct {
		name       string
		a, s, f    float64
		one, six   float64 // success, %
		recomputed bool
	}{
		{"ucb", 4934, 2329, 2546, 47.77, 74.17, false},
		{"deug", 6481, 3359, 2942, 53.31, 81.34, true},
	} {
		sets, err := b.replicas(c.name, replicas)
		if err != nil {
			return err
		}
		specs := []string{reproduce.FCFS}
		for _, missing := range []string{"zero", "skip"} {
			for n := 1; n <= mostDays; n++ {
				specs = append(specs, fmt.Sprintf("fcfspp:n=%d,missing_days=%s", n, missing))
			}
		}
		batch := b.Batch()
		out := b.sweep(batch, sets, specs)
		if err := batch.Run(); err != nil {
			return err
		}
		b.judgeDays(sets[0], c.a, c.s, c.f, c.one, c.six, c.recomputed, out[0], out[1:1+mostDays])
		b.judgeSkipped(sets[0], out[1+mostDays:])
	}
	b.Lost("values of Fig. 7-2 for N = 2 to 5", "A, S, F, success", "they are in the figure alone, and no copy of it is "+
		"to be had")
	return nil
}

func (b *bench) judgeDays(s *set, a, ok, lost, one, six float64, recomputed bool, base counts, n []counts) {
	as, ss, fs, rates := column(n, allocated), column(n, succeeded), column(n, failed), column(n, counts.success)
	b.number(s, "A, N = 1", a, n[0].a, "%.0f", claim{falls(as), "A falls as N rises: " + list("%.0f", as), ""})
	b.number(s, "S, N = 1", ok, n[0].s, "%.0f", claim{falls(ss), "S falls as N rises: " + list("%.0f", ss), ""})
	b.number(s, "F, N = 1", lost, n[0].f, "%.0f", claim{falls(fs), "F falls as N rises: " + list("%.0f", fs), ""})
	more := claim{rates[0] > base.success(), fmt.Sprintf("FCFSPP succeeds more often than FCFS, %.2f %%", base.success()),
		""}
	if recomputed {
		b.Lost(s.label()+": success, N = 1, as printed", "44.78 %", "it contradicts the thesis's own counts: "+
			"3359/(3359+2942) is 53.31 %, which is judged instead")
		more.says += "; published is what the thesis's counts give, the text prints 44.78 %"
	}
	b.number(s, "success, N = 1", one, rates[0], "%.2f %%", more)
	b.number(s, "success, N = 6", six, rates[5], "%.2f %%",
		claim{rates[5] > rates[0], "success rises with N: " + list("%.2f", rates), ""})
	left := func(xs []float64) float64 { return 100 * xs[5] / xs[0] }
	b.statement(s, "F falls faster than S from N = 1 to 6", "yes", fmt.Sprintf("%.0f %% of F and %.0f %% of S are left",
		left(fs), left(ss)), claim{left(fs) < left(ss), "days without history count as days without availability", ""})
	fig := reproduce.Figure{Name: "e1-" + s.name, Title: "Fig. 7-2: checking days, " + s.label(), X: "N", Y: "jobs"}
	for i, name := range []string{"A", "S", "F"} {
		fig.Curves = append(fig.Curves, reproduce.Curve{Name: name, X: upTo(len(n)), Y: [][]float64{as, ss, fs}[i]})
	}
	b.Figures = append(b.Figures, fig, reproduce.Figure{Name: "e1-success-" + s.name,
		Title: "Fig. 7-2: success by checking days, " + s.label(), X: "N", Y: "S/(S+F), %",
		Curves: []reproduce.Curve{{Name: "FCFSPP", X: upTo(len(n)), Y: rates}}})
}

// judgeSkipped has the trends with days of which nothing is known left out of the
// mean, which the thesis does not say either way.
func (b *bench) judgeSkipped(s *set, n []counts) {
	as, rates := column(n, allocated), column(n, counts.success)
	b.statement(s, "A falls and success rises with N, days without history left out", "yes",
		fmt.Sprintf("A %s; success %s %%", list("%.0f", as), list("%.2f", rates)),
		claim{falls(as) && rates[len(rates)-1] > rates[0], "from N = 1 to 6; the other reading of a missing day (zhang.md " +
			"section 10, question 2)", ""})
}

func upTo(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = float64(i + 1)
	}
	return out
}

// thresholds is section 7.2.2: FCFSPP with T from 0 to 100 % and N = 6.
func thresholds(b *bench) error {
	b.FirstSeed = b.Seed
	b.Say("N = 6, days without history count as without availability; jobs of 10 min, always one waiting; the first day " +
		"is not reported; means over the sets")
	var ts []float64
	specs := []string{reproduce.FCFS}
	for t := 0; t <= 10; t++ {
		ts = append(ts, float64(10*t))
		specs = append(specs, fmt.Sprintf("fcfspp:n=6,missing_days=zero,t=%.1f", float64(t)/10))
	}
	for _, name := range []string{"ucb", "deug"} {
		sets, err := b.replicas(name, replicas)
		if err != nil {
			return err
		}
		batch := b.Batch()
		out := b.sweep(batch, sets, specs)
		if err := batch.Run(); err != nil {
			return err
		}
		b.judgeThresholds(sets[0], ts, out[0], out[1:])
	}
	b.Lost("other values of Fig. 7-3", "A for T above 30 %, S, F, success; all of DEUG",
		"they are in the figure alone, and no copy of it is to be had")
	return nil
}

func (b *bench) judgeThresholds(s *set, ts []float64, base counts, t []counts) {
	as, ss, fs, rates := column(t, allocated), column(t, succeeded), column(t, failed), column(t, counts.success)
	v := reproduce.Equal
	if t[0] != base {
		v = reproduce.Differs
	}
	b.Add(v, s.label()+": T = 0 is FCFS, A/S/F", "equal", fmt.Sprintf("%s and %s", t[0], base),
		noteOf(v, "an identity, so that the hosts do not matter"))
	if s.name == "UCB" {
		for i, p := range []float64{9897, 8092, 5883, 5882} {
			b.number(s, fmt.Sprintf("A, T = %.0f %%", ts[i]), p, as[i], "%.0f",
				claim{falls(as), "A falls as T rises: " + list("%.0f", as), ""})
		}
		b.statement(s, "staircase: A hardly falls from T = 20 % to 30 %", "5883 and 5882", list("%.0f", as[2:4]),
			claim{as[2]-as[3] <= 0.001*as[2] && as[1]-as[2] > 0.01*as[1],
				"RAP is a multiple of 1/6, so that nothing lies between", ""})
	} else {
		b.statement(s, "A falls with T", "yes", list("%.0f", as), claim{falls(as), "", ""})
	}
	b.statement(s, "S and F fall with T", "yes", fmt.Sprintf("S %s; F %s", list("%.0f", ss), list("%.0f", fs)),
		claim{falls(ss) && falls(fs), "", ""})
	b.statement(s, "success rises with T", "yes", list("%.1f", rates)+" %", claim{rises(rates), "", ""})
	fig := reproduce.Figure{Name: "e2-" + s.name, Title: "Fig. 7-3: threshold, " + s.label(), X: "T, %", Y: "jobs"}
	for i, name := range []string{"A", "S", "F"} {
		fig.Curves = append(fig.Curves, reproduce.Curve{Name: name, X: ts, Y: [][]float64{as, ss, fs}[i]})
	}
	b.Figures = append(b.Figures, fig, reproduce.Figure{Name: "e2-success-" + s.name,
		Title: "Fig. 7-3: success by threshold, " + s.label(), X: "T, %", Y: "S/(S+F), %",
		Curves: []reproduce.Curve{{Name: "FCFSPP", X: ts, Y: rates}}})
}

// noteOf keeps the note of a verdict unless it differs.
func noteOf(v reproduce.Verdict, note string) string {
	if v == reproduce.Differs {
		return ""
	}
	return note
}
