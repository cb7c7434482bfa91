package zhang

import (
	"fmt"
	"strings"

	"godwit/reproduce"
	"godwit/sim"
	"godwit/trace"
)

// sayLengths notes how long jobs take on sets, and what the lengths are fitted to.
func (b *bench) sayLengths(names ...string) {
	var texts []string
	for _, name := range names {
		texts = append(texts, fmt.Sprintf("of %s %v", name, jobLengths[name]))
	}
	b.Say("jobs are measured in cycles in the thesis; here a job takes a fitted time of a host: %s; other counts are "+
		"judged by these", strings.Join(texts, "; "))
}

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
const replicas = 4

// fittedReplicas returns replicas with the set's fitted length of jobs.
func (b *bench) fittedReplicas(name string) ([]*set, error) {
	sets, err := b.replicas(name, replicas)
	for i, s := range sets {
		sets[i] = s.fitted()
	}
	return sets, err
}

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
// counts of each policy. The counts on each set become a table.
func (b *bench) sweep(experiment string, batch *reproduce.Batch, sets []*set, specs []string) []counts {
	out := make([]counts, len(specs))
	table := reproduce.Table{Experiment: experiment, Title: fmt.Sprintf("%s: A/S/F by the seed of the "+
		"hosts", sets[0].label()),
		Header: []string{"POLICY"}, Rows: make([][]string, len(specs))}
	for i, spec := range specs {
		table.Rows[i] = append(make([]string, 0, 1+len(sets)), spec)
	}
	for k, s := range sets {
		table.Header = append(table.Header, fmt.Sprint("SEED-", b.Seed+uint64(k)))
		for i, spec := range specs {
			batch.Add(s.scenario(spec, b.Seed+uint64(k)), func(r *sim.Report) {
				out[i].add(r, len(sets))
				table.Rows[i] = append(table.Rows[i], counts{float64(r.Allocated), float64(r.Succeeded),
					float64(r.Failed)}.String())
			})
		}
	}
	b.Tables = append(b.Tables, table)
	return out
}

// mostDays is the largest N of the thesis.
const mostDays = 6

// checkingDays is section 7.2.1: FCFSPP with N = 1 to 6 checking days.
func checkingDays(b *bench) error {
	b.FirstSeed = b.Seed
	b.Say("T = 100 %%, always a job waiting; closing hours are departures; the first day is not reported; means over " +
		"the sets")
	b.sayLengths("UCB", "DEUG")
	for _, c := range []struct {
		name       string
		a, s, f    float64
		one, six   float64 // success, %
		recomputed bool
	}{
		{"ucb", 4934, 2329, 2546, 47.77, 74.17, false},
		{"deug", 6481, 3359, 2942, 53.31, 81.34, true},
	} {
		sets, err := b.fittedReplicas(c.name)
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
		out := b.sweep("E1", batch, sets, specs)
		if err := batch.Run(); err != nil {
			return err
		}
		b.judgeDays(sets[0], c.a, c.s, c.f, c.one, c.six, c.recomputed, out[0], out[1:1+mostDays],
			sets[0].whyOff(out[0]))
		b.judgeSkipped(sets[0], out[1+mostDays:])
	}
	b.Lost("values of Fig. 7-2 for N = 2 to 5", "A, S, F, success", "they are in the figure alone, and no copy of it is "+
		"to be had")
	return nil
}

func (b *bench) judgeDays(s *set, a, ok, lost, one, six float64, recomputed bool, base counts, n []counts,
	off string) {
	as, ss, fs, rates := column(n, allocated), column(n, succeeded), column(n, failed), column(n, counts.success)
	b.count(s, "A, N = 1", a, n[0].a, "%.0f", claim{falls(as), "A falls as N rises: " + list("%.0f", as), ""}, off)
	b.count(s, "S, N = 1", ok, n[0].s, "%.0f", claim{falls(ss), "S falls as N rises: " + list("%.0f", ss), ""}, off)
	b.count(s, "F, N = 1", lost, n[0].f, "%.0f", claim{falls(fs), "F falls as N rises: " + list("%.0f", fs), ""}, off)
	more := claim{rates[0] > base.success(), fmt.Sprintf("FCFSPP succeeds more often than FCFS, %.2f %%", base.success()),
		""}
	if recomputed {
		b.Lost(s.label()+": success, N = 1, as printed", "44.78 %", "it contradicts the thesis's own counts: "+
			"3359/(3359+2942) is 53.31 %, which is judged instead")
		more.says += "; published is what the thesis's counts give, the text prints 44.78 %"
	}
	b.count(s, "success, N = 1", one, rates[0], "%.2f %%", more, off)
	b.count(s, "success, N = 6", six, rates[5], "%.2f %%",
		claim{rates[5] > rates[0], "success rises with N: " + list("%.2f", rates), ""}, off)
	b.statement(s, "A, S and F fall as N rises", "yes", fmt.Sprintf("A %s; S %s; F %s", list("%.0f", as), list("%.0f", ss),
		list("%.0f", fs)), claim{holds: falls(as) && falls(ss) && falls(fs)})
	b.statement(s, "success rises from N = 1 to 6, and is above that of FCFS", "yes",
		fmt.Sprintf("%s %%; FCFS %.2f %%", list("%.2f", rates), base.success()),
		claim{holds: rates[5] > rates[0] && rates[0] > base.success()})
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

// whyOff is the likely reason why counts with a predictor are off although the length of
// jobs is fitted: how much one day of a host tells of the next.
func (s *set) whyOff(base counts) string {
	return fmt.Sprintf("likely because a day tells more of the next one of these hosts than of the thesis's, so that "+
		"FCFSPP finds hosts that stay: each host keeps its own rate of exits, and their numbers on one day and the "+
		"next have r = %.2f; FCFS, which predicts nothing, completes %.1f %% of these "+
		"jobs", s.exitsAlike(), base.success())
}

// exitsAlike is the correlation, over hosts and days, of the number of a host's exits on
// one day with that on the next.
func (s *set) exitsAlike() float64 {
	var one, next []float64
	for _, h := range s.hosts.Hosts {
		perDay := make([]float64, s.watched.Days())
		for i := 1; i < h.History.Len(); i++ {
			left, now := h.History.Spell(i-1), h.History.Spell(i)
			if left.State == trace.Available && now.State != trace.Available {
				perDay[min(len(perDay)-1, int(now.Start.Sub(s.hosts.Start)/reproduce.Day))]++
			}
		}
		for d := 1; d < len(perDay); d++ {
			one, next = append(one, perDay[d-1]), append(next, perDay[d])
		}
	}
	return correlate(one, next)
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
	b.Say("N = 6, days without history count as without availability; always a job waiting; the first day is not " +
		"reported; means over the sets")
	b.sayLengths("UCB", "DEUG")
	var ts []float64
	specs := []string{reproduce.FCFS}
	for t := 0; t <= 10; t++ {
		ts = append(ts, float64(10*t))
		specs = append(specs, fmt.Sprintf("fcfspp:n=6,missing_days=zero,t=%.1f", float64(t)/10))
	}
	for _, name := range []string{"ucb", "deug"} {
		sets, err := b.fittedReplicas(name)
		if err != nil {
			return err
		}
		batch := b.Batch()
		out := b.sweep("E2", batch, sets, specs)
		if err := batch.Run(); err != nil {
			return err
		}
		b.judgeThresholds(sets[0], ts, out[0], out[1:], sets[0].whyOff(out[0]))
	}
	b.Lost("other values of Fig. 7-3", "A for T above 30 %, S, F, success; all of DEUG",
		"they are in the figure alone, and no copy of it is to be had")
	return nil
}

func (b *bench) judgeThresholds(s *set, ts []float64, base counts, t []counts, off string) {
	as, ss, fs, rates := column(t, allocated), column(t, succeeded), column(t, failed), column(t, counts.success)
	v := reproduce.Equal
	if t[0] != base {
		v = reproduce.Differs
	}
	b.Add(v, s.label()+": T = 0 is FCFS, A/S/F", "equal", fmt.Sprintf("%s and %s", t[0], base),
		noteOf(v, "an identity, so that the hosts do not matter"))
	if s.name == "UCB" {
		for i, p := range []float64{9897, 8092, 5883, 5882} {
			b.count(s, fmt.Sprintf("A, T = %.0f %%", ts[i]), p, as[i], "%.0f",
				claim{falls(as), "A falls as T rises: " + list("%.0f", as), ""}, off)
		}
		b.statement(s, "staircase: A hardly falls from T = 20 % to 30 %", "5883 and 5882", list("%.0f", as[2:4]),
			claim{as[2]-as[3] <= 0.001*as[2] && as[1]-as[2] > 0.01*as[1],
				"RAP is a multiple of 1/6, so that nothing lies between", ""})
	}
	b.statement(s, "A falls with T", "yes", list("%.0f", as), claim{holds: falls(as)})
	b.statement(s, "S and F fall with T", "yes", fmt.Sprintf("S %s; F %s", list("%.0f", ss), list("%.0f", fs)),
		claim{holds: falls(ss) && falls(fs)})
	b.statement(s, "success rises with T", "yes", list("%.1f", rates)+" %", claim{holds: rises(rates)})
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
