package zhang

import (
	"fmt"
	"math"

	"godwit/reproduce"
	"godwit/trace"
)

// rhoSet is DEUG, or many hosts like it.
func (b *bench) rhoSet() (*set, *[rhoCategories][]pair, error) {
	s, err := b.set("deug", trace.SynthConfig{Hosts: rhoHosts, Seed: b.Seed})
	if err != nil {
		return nil, nil, err
	}
	b.Say("%s", s.sizes())
	all := rhoPairsOf(s.watched)
	var sizes []float64
	for _, pairs := range all {
		sizes = append(sizes, float64(len(pairs)))
	}
	b.Say("pairs of days by rho in tenths from -1: %s; at most %d drawn from each, seed %d", list("%.0f", sizes), rhoPairs,
		b.Seed)
	b.Say("2 days, the second reported; jobs of 10 min, always one waiting; N = 1, T = 100 %%; closing hours are " +
		"departures")
	return s, &all, nil
}

// similarity is section 7.2.4: does FCFSPP profit from days that are alike?
func similarity(b *bench) error {
	b.FirstSeed = b.Seed
	s, all, err := b.rhoSet()
	if err != nil {
		return err
	}
	batch := b.Batch()
	cs, err := b.categories(batch, s, all, b.Seed, reproduce.FCFS, "fcfspp")
	if err != nil {
		return err
	}
	var replicated [rhoRuns][]*category
	middle := *all
	for k := range middle {
		if k < firstReplicate || k > lastReplicate {
			middle[k] = nil
		}
	}
	for run := range rhoRuns {
		if replicated[run], err = b.categories(batch, s, &middle, b.Seed+1+uint64(run), reproduce.FCFS,
			"fcfspp"); err != nil {
			return err
		}
	}
	if err := batch.Run(); err != nil {
		return err
	}
	b.judgeSimilarity(s, cs)
	b.judgeReplicated(s, replicated[:])
	b.Lost("values of Figs 7-6 to 7-15", "proportions of A, S and F by category",
		"they are in the figures alone, but for the category 0.9 to 1, and no copy of them is to be had")
	return nil
}

// proportion is one policy's share of another's count.
func proportion(cs []*category, of func(counts) float64, k, base int) (rhos, shares []float64) {
	for _, c := range cs {
		if below := of(c.counts(base)); c.used > 0 && below > 0 {
			rhos, shares = append(rhos, c.rho), append(shares, of(c.counts(k))/below)
		}
	}
	return rhos, shares
}

func (b *bench) judgeSimilarity(s *set, cs []*category) {
	const base, pp = 0, 1
	var exits, lostAll, fewer, noWorse, higher, judged int
	for _, c := range cs {
		if c.used == 0 {
			continue
		}
		judged++
		f, p := c.counts(base), c.counts(pp)
		exits, lostAll = exits+c.exits, lostAll+int(f.f)
		if p.a <= f.a && p.s <= f.s {
			fewer++
		}
		if p.f <= f.f {
			noWorse++
		}
		if p.success() > f.success() {
			higher++
		}
	}
	of := func(n int) string { return fmt.Sprintf("in %d of %d categories", n, judged) }
	b.statement(s, "F of FCFS is the number of unavailability events", "yes",
		fmt.Sprintf("F %d, events %d", lostAll, exits),
		claim{lostAll == exits, "resources are always busy; there is no closing before the end of the run on day 2", ""})
	b.statement(s, "A and S of FCFSPP not above those of FCFS", "in every category", of(fewer),
		claim{fewer == judged, "", ""})
	b.statement(s, "F of FCFSPP never above that of FCFS", "in every category", of(noWorse),
		claim{noWorse == judged, "", ""})
	b.statement(s, "success of FCFSPP above that of FCFS", "in most categories", of(higher),
		claim{2*higher > judged, "", ""})
	last := cs[rhoCategories-1]
	f, p := last.counts(base), last.counts(pp)
	rhoS, shareS := proportion(cs, succeeded, pp, base)
	rhoF, shareF := proportion(cs, failed, pp, base)
	rhoA, shareA := proportion(cs, allocated, pp, base)
	b.Lost("category 0.9 to 1: A", "49 by 70, 0.7", "A would be below S (288 by 342): one of the two pairs is misprinted")
	b.number(s, "category 0.9 to 1: proportion of S", 0.842, p.s/f.s, "%.3f",
		claim{p.s/f.s > 0.8, fmt.Sprintf("it exceeds 0.8 where the days are alike (S %.0f by %.0f; published 288 by 342)",
			p.s, f.s), ""})
	b.number(s, "category 0.9 to 1: proportion of F", 0.1, p.f/f.f, "%.3f",
		claim{p.f/f.f < 0.5, fmt.Sprintf("few are lost where the days are alike (F %.0f by %.0f; published 1 by 10, which "+
			"the text prints as 0.9)", p.f, f.f), ""})
	for _, q := range []struct {
		name       string
		rho, share []float64
		sign       float64
		why        string
	}{{"A", rhoA, shareA, 1, ""}, {"S", rhoS, shareS, 1, ""}, {"F", rhoF, shareF, -1, b.whyLost(cs)}} {
		r := correlate(q.rho, q.share)
		way := map[float64]string{1: "rises", -1: "falls"}[q.sign]
		b.statement(s, fmt.Sprintf("proportion of %s %s with rho", q.name, way), "yes",
			fmt.Sprintf("correlation %.2f; %s", r, list("%.2f", q.share)),
			claim{q.sign*r > significant, "correlation over the categories beyond chance at 5 %", q.why})
		b.Figures = append(b.Figures, reproduce.Figure{Name: "e4-" + q.name,
			Title: "Figs 7-6 to 7-10: FCFSPP/FCFS, " + q.name, X: "rho", Y: "proportion",
			Curves: []reproduce.Curve{{Name: s.label(), X: q.rho, Y: q.share}}})
	}
}

// whyLost explains why F's proportion does not fall with rho, if it is for this:
// where days are contrary FCFSPP places so little that it loses little, but of
// what it places the share that it loses does fall.
func (b *bench) whyLost(cs []*category) string {
	rhos, risks := proportion(cs, func(c counts) float64 { return c.f / c.a }, 1, 0)
	_, placed := proportion(cs, allocated, 1, 0)
	_, again := availableAgain(cs)
	r := correlate(rhos, risks)
	if r > -significant || !(placed[0] < placed[len(placed)-1]/2) {
		return ""
	}
	return fmt.Sprintf("of what FCFSPP places, the share lost beside FCFS's does fall with rho (correlation %.2f; %s); "+
		"but where rho is negative these hosts are available on the checking day for only %.0f %% of the prediction day's "+
		"time (%.0f %% in the last category), so that hardly anything is placed or lost: the -like hosts have no hours in "+
		"common from day to day",
		r, list("%.2f", risks), 100*again[0], 100*again[len(again)-1])
}

func availableAgain(cs []*category) (rhos, again []float64) {
	for _, c := range cs {
		if c.used > 0 {
			rhos, again = append(rhos, c.rho), append(again, c.again)
		}
	}
	return rhos, again
}

// significant is the correlation of 20 points beyond which there is a trend with
// 95 % confidence, one-sided.
const significant = 0.378

// correlate is the product-moment correlation of two columns.
func correlate(x, y []float64) float64 {
	mx, my := reproduce.Mean(x), reproduce.Mean(y)
	var xy, xx, yy float64
	for i := range x {
		xy += (x[i] - mx) * (y[i] - my)
		xx += (x[i] - mx) * (x[i] - mx)
		yy += (y[i] - my) * (y[i] - my)
	}
	return xy / math.Sqrt(xx*yy)
}

// judgeReplicated is of the categories that the thesis ran ten times.
func (b *bench) judgeReplicated(s *set, replicated [][]*category) {
	var rhos, sShare, fShare, again []float64 // of each run
	var sMean, fMean, againMean []float64     // of each category
	lower := 0
	for k := firstReplicate; k <= lastReplicate; k++ {
		var f, p counts
		covered := 0.0
		for _, cs := range replicated {
			f0, p0 := cs[k].counts(0), cs[k].counts(1)
			f, p = counts{f.a + f0.a, f.s + f0.s, f.f + f0.f}, counts{p.a + p0.a, p.s + p0.s, p.f + p0.f}
			rhos, sShare, fShare, again = append(rhos, cs[k].rho), append(sShare, p0.s/f0.s), append(fShare, p0.f/f0.f),
				append(again, cs[k].again)
			covered += cs[k].again / float64(len(replicated))
		}
		if p.s < f.s && p.f < f.f {
			lower++
		}
		sMean, fMean, againMean = append(sMean, p.s/f.s), append(fMean, p.f/f.f), append(againMean, covered)
	}
	b.statement(s, "rho -0.2 to 0.3, 10 runs: S and F of FCFSPP below those of FCFS", "in all 5 categories",
		fmt.Sprintf("in %d of 5", lower), claim{lower == 5, "", ""})
	rS, rF := correlate(rhos, sShare), correlate(rhos, fShare)
	why := ""
	if r := correlate(again, sShare); r > significantRuns {
		why = fmt.Sprintf("S follows how much of the prediction day's available time was available on the checking day too "+
			"(correlation %.2f over the %d runs; by category %s), and among these hosts that is not the same in all five",
			r, len(rhos), list("%.2f", againMean))
	}
	b.statement(s, "rho -0.2 to 0.3, 10 runs: no trend with rho", "yes",
		fmt.Sprintf("S %s, F %s of FCFS; correlations %.2f and %.2f", list("%.2f", sMean), list("%.2f", fMean), rS, rF),
		claim{math.Abs(rS) < significantRuns && math.Abs(rF) < significantRuns, "correlations over the 50 runs within chance",
			why})
}

// significantRuns is the correlation of 50 points beyond which there is a trend
// with 95 % confidence, two-sided.
const significantRuns = 0.279

func maximum(x []float64) float64 {
	out := math.Inf(-1)
	for _, v := range x {
		out = max(out, v)
	}
	return out
}

func minimum(x []float64) float64 {
	out := math.Inf(1)
	for _, v := range x {
		out = min(out, v)
	}
	return out
}
