package zhang

import (
	"fmt"
	"math"

	"godwit/reproduce"
	"godwit/sim"
	"godwit/trace"
)

// Table 7-4's runs: 20 resources, the fourth of 4 days, 10 times.
const (
	weightHosts = 20
	weightDays  = 4
	weightRuns  = 10
)

// The schemes of Eq 7.2 to 7.4, weights oldest day first. The thesis writes 0.33
// for 1/3, with which a perfect history does not reach T = 100 %.
var schemes = []struct{ name, weights string }{
	{"equal", ""},
	{"scheme 1", ",weights=0.7/0.2/0.1"},
	{"scheme 2", ",weights=0.1/0.2/0.7"},
}

// weightSpec is the policy of Table 7-4, with equal weights.
const weightSpec = "fcfspp:n=3,m=3,t=0.5"

// weights is section 7.2.3: does it matter which checking day weighs most?
func weights(b *bench) error {
	b.FirstSeed = b.Seed
	b.Say("FCFSPP with N = 3, T = 50 %%, M = 3; %d hosts, %d days, the last reported; %d runs with other hosts, seeds "+
		"%d to %d", weightHosts, weightDays, weightRuns, b.Seed, b.Seed+weightRuns-1)
	b.sayLengths("SDSC", "LRI")
	batch := b.Batch()
	type result struct {
		set   *set
		days  [3][weightRuns]sim.Day
		mixed [3][weightRuns]sim.Day // the same on hosts none of whose days is constant
	}
	var all []*result
	for _, name := range []string{"sdsc", "lri"} {
		r := &result{}
		all = append(all, r)
		for run := range weightRuns {
			s, err := b.weightSet(name, run)
			if err != nil {
				return err
			}
			r.set = s
			mixed, err := b.mixedHosts(name, run)
			if err != nil {
				return err
			}
			for k, w := range schemes {
				spec := weightSpec + w.weights
				batch.Add(s.scenario(spec, b.Seed+uint64(run)), func(rep *sim.Report) { r.days[k][run] = rep.PerDay[weightDays-1] })
				if !s.original {
					batch.Add(mixed.scenario(spec, b.Seed+uint64(run)),
						func(rep *sim.Report) { r.mixed[k][run] = rep.PerDay[weightDays-1] })
				}
			}
		}
		b.Say("%s", r.set.sizes())
	}
	if err := batch.Run(); err != nil {
		return err
	}
	published := [][3][2]float64{{{182, 9.6}, {180.3, 10.8}, {181.3, 9.1}}, {{324.4, 22.3}, {326.8, 21.2}, {323.9, 21.1}}}
	for i, r := range all {
		b.judgeWeights(r.set, published[i], r.days, r.mixed)
	}
	b.Lost("values of Figs 7-4 and 7-5", "S and F of each scheme", "they are in the figures alone, and no copy of them "+
		"is to be had")
	b.Lost("which scheme favours yesterday", "prose: scheme 1; equations: scheme 2",
		"the thesis contradicts itself; both were run by the equations, and neither is better")
	return nil
}

// weightSet has the hosts of a run: others in each.
func (b *bench) weightSet(name string, run int) (*set, error) {
	if b.Traces[name] == nil {
		s, err := b.set(name, trace.SynthConfig{Hosts: weightHosts, Days: weightDays, Seed: b.Seed + uint64(run)})
		if err != nil {
			return nil, err
		}
		return s.fitted(), nil
	}
	s, err := b.set(name, trace.SynthConfig{})
	if err != nil {
		return nil, err
	}
	return s.draw(weightHosts, weightDays, b.Seed+uint64(run)).fitted(), nil
}

func (b *bench) judgeWeights(s *set, published [3][2]float64, days, mixed [3][weightRuns]sim.Day) {
	most := map[string][2]float64{"SDSC": {1, 2}, "LRI": {1, 5}}[s.name] // % published: of A, and of S and F
	figures := []struct {
		name  string
		of    func(sim.Day) uint64
		limit float64
	}{
		{"A", func(d sim.Day) uint64 { return d.Allocated }, most[0]},
		{"S", func(d sim.Day) uint64 { return d.Succeeded }, map[string]float64{"SDSC": 2, "LRI": 1.5}[s.name]},
		{"F", func(d sim.Day) uint64 { return d.Failed }, most[1]},
	}
	for _, f := range figures {
		var means, margins [3]float64
		for k := range schemes {
			means[k], margins[k] = meanOf(days[k], f.of)
		}
		off, beyond, better := 0.0, 0.0, 0.0
		for k := 1; k < len(schemes); k++ {
			off = max(off, 100*math.Abs(means[k]-means[0])/means[0])
			better = max(better, 100*(means[k]-means[0])/means[0])
			beyond = max(beyond, math.Abs(paired(days[0], days[k], f.of)))
		}
		// The thesis has margins of error, and could not tell what is within them.
		told := 100 * published[0][1] / published[0][0]
		alike := beyond < studentT9 || off < told
		says := fmt.Sprintf("no scheme is better beyond the published margin, %.1f %%, or beyond chance: on the same hosts "+
			"they differ by at most %.1f standard errors, %.1f %%", told, beyond, off)
		why := ""
		if !alike {
			why = s.whyWeights(mixed)
		}
		if f.name == "A" {
			for k, w := range schemes {
				c := claim{math.Abs(means[k]-means[0]) <= tolerable*means[0], fmt.Sprintf("it is within %.0f %% of equal weights",
					100*tolerable), why}
				if k == 0 {
					c = claim{better <= 100*tolerable, fmt.Sprintf(
						"equal weights are as good as any: the best other is %.1f %% better", better), why}
				}
				b.spread(s, "A, "+w.name, published[k], [2]float64{means[k], margins[k]}, c)
			}
		}
		b.statement(s, fmt.Sprintf("%s of the other schemes is that of equal weights", f.name),
			fmt.Sprintf("within %g %%", f.limit), fmt.Sprintf("within %.1f %%, %.1f standard errors", off, beyond),
			claim{off <= f.limit || alike, says, why})
	}
}

// studentT9 is Student's t of 95 % for the differences of weightRuns runs.
const studentT9 = 2.262

// paired is by how many standard errors two schemes differ on the same hosts.
func paired(a, b [weightRuns]sim.Day, of func(sim.Day) uint64) float64 {
	var d [weightRuns]float64
	m, v := 0.0, 0.0
	for i := range d {
		d[i] = float64(of(b[i])) - float64(of(a[i]))
		m += d[i] / weightRuns
	}
	for _, x := range d {
		v += (x - m) * (x - m) / (weightRuns - 1)
	}
	if v == 0 {
		return 0
	}
	return m / math.Sqrt(v/weightRuns)
}

// tolerable is how far apart the thesis's own schemes are, all figures taken
// together.
const tolerable = 0.05

// meanOf is the mean of a figure over the runs, with its margin of error (Eq 7.5).
func meanOf(days [weightRuns]sim.Day, of func(sim.Day) uint64) (m, margin float64) {
	for _, d := range days {
		m += float64(of(d)) / weightRuns
	}
	for _, d := range days {
		margin += (float64(of(d)) - m) * (float64(of(d)) - m)
	}
	return m, twoSided * math.Sqrt(margin/(weightRuns-1)) / math.Sqrt(weightRuns)
}

// mixedPool is of how many hosts those are taken none of whose days is constant.
const mixedPool = 600

// mixedHosts has the first hosts of a larger set none of whose days is constant,
// as far as there are any.
func (b *bench) mixedHosts(name string, run int) (*set, error) {
	if b.Traces[name] != nil {
		return nil, nil
	}
	s, err := b.set(name, trace.SynthConfig{Hosts: mixedPool, Days: weightDays, Seed: b.Seed + uint64(run)})
	if err != nil {
		return nil, err
	}
	t := *s.watched
	t.Hosts = nil
	for _, h := range s.watched.Hosts {
		if len(t.Hosts) < weightHosts && changing(h.History, &t) {
			t.Hosts = append(t.Hosts, h)
		}
	}
	return (&set{name: s.name, watched: &t, hosts: t.Assume(trace.Unavailable)}).fitted(), nil
}

// changing says that a host was neither there nor away through any of the days.
func changing(h *trace.History, t *trace.Trace) bool {
	for from := t.Start; from.Before(t.End); from = from.Add(reproduce.Day) {
		if _, ok := trace.PMCC(h, from, h, from, t.Window.Length()); !ok {
			return false
		}
	}
	return true
}

// whyWeights explains a scheme's advantage by the hosts that are there or away for
// days on end, if without them there is none.
func (s *set) whyWeights(mixed [3][weightRuns]sim.Day) string {
	of := func(d sim.Day) uint64 { return d.Allocated }
	var means [3]float64
	beyond := 0.0
	for k := range schemes {
		means[k], _ = meanOf(mixed[k], of)
		beyond = max(beyond, math.Abs(paired(mixed[0], mixed[k], of)))
	}
	if s.original || beyond >= studentT9 || means[0] == 0 {
		return ""
	}
	return fmt.Sprintf("it is the hosts that are there or away for days on end, for which the last day tells most: on "+
		"%d hosts a run none of whose days is constant the schemes are alike, A %s, at most %.1f standard errors apart; "+
		"which 20 resources the thesis took is not stated",
		weightHosts, list("%.1f", means[:]), beyond)
}

// spread judges a mean with its margin of error.
func (b *bench) spread(s *set, cell string, published, obtained [2]float64, c claim) {
	p, o := fmt.Sprintf("%.1f ± %.1f", published[0], published[1]), fmt.Sprintf("%.1f ± %.1f", obtained[0], obtained[1])
	if s.original && math.Abs(published[0]-obtained[0]) <= published[1]+obtained[1] {
		b.Add(reproduce.Within, s.label()+": "+cell, p, o, "original trace as supplied; the margins overlap")
		return
	}
	if s.job != nil && !s.original {
		b.byLength(s, cell, p, o, math.Abs(obtained[0]-published[0]) <= published[1], "within the published margin of error",
			c.why)
		return
	}
	b.statement(s, cell, p, o, claim{c.holds, "the number is not judged; " + c.says, c.why})
}
