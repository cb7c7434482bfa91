package zhang

import (
	"fmt"
	"math"

	"godwit/reproduce"
)

// flpDraws is how often pairs are drawn for section 7.3, which speaks of some
// categories: one draw of 20 pairs may have none.
const flpDraws = 5

// bestOfMany is how many standard errors the best of a hundred comparisons is
// beyond chance at 5 %.
const bestOfMany = 3.4

// between is section 7.3: FLP beside FCFS and FCFSPP in the same categories.
func between(b *bench) error {
	b.FirstSeed = b.Seed
	s, all, err := b.rhoSet()
	if err != nil {
		return err
	}
	b.Say("FLP: lambda 1, every 10 min from the start, days read as Prefix (section 7.3's example needs both)")
	batch := b.Batch()
	var cs []*category // of all draws
	for k := range flpDraws {
		drawn, err := b.categories(batch, s, all, b.Seed+uint64(k), reproduce.FCFS, "fcfspp:reading=prefix",
			"flp:lambda=1,interval=10m,from=start,reading=prefix")
		if err != nil {
			return err
		}
		cs = append(cs, drawn...)
	}
	if err := batch.Run(); err != nil {
		return err
	}
	b.Say("%d draws of pairs, seeds %d to %d; figures are of the first", flpDraws, b.Seed, b.Seed+flpDraws-1)
	t := threeWays{bound: true}
	for _, c := range cs {
		if c.used > 0 {
			t.add(c)
		}
	}
	t.state(b, s)
	for i, name := range []string{"A", "S", "F", "success"} {
		fig := reproduce.Figure{Name: "e5-" + name, Title: fmt.Sprintf("Fig. 7-%d: %s by rho", 16+i, name), X: "rho", Y: name}
		for k, policy := range []string{"FCFS", "FCFSPP", "FLP"} {
			v := reproduce.Curve{Name: policy}
			for _, c := range cs[:rhoCategories] {
				if c.used > 0 {
					v.X = append(v.X, c.rho)
					v.Y = append(v.Y, []func(counts) float64{allocated, succeeded, failed, counts.success}[i](c.counts(k)))
				}
			}
			fig.Curves = append(fig.Curves, v)
		}
		b.Figures = append(b.Figures, fig)
	}
	b.Lost("values of Figs 7-16 to 7-19", "A, S, F and success of FLP by category",
		"they are in the figures alone, and no copy of them is to be had")
	return nil
}

// threeWays counts categories by where FLP lies between FCFS and FCFSPP.
type threeWays struct {
	judged, inside, closer, fInside, fAbove, sInside, lowest, best int

	beyond float64   // standard errors by which FLP was the best, at most
	bound  bool      // FCFS loses a job at every unavailability event
	sum    [3]counts // of FCFS, FCFSPP and FLP
}

func (t *threeWays) add(c *category) {
	t.judged++
	f, p, l := c.counts(0), c.counts(1), c.counts(2)
	for k, x := range []counts{f, p, l} {
		t.sum[k] = counts{t.sum[k].a + x.a, t.sum[k].s + x.s, t.sum[k].f + x.f}
	}
	lies := func(of func(counts) float64) bool {
		x := of(l)
		return x >= min(of(f), of(p)) && x <= max(of(f), of(p))
	}
	add := func(n *int, ok bool) {
		if ok {
			*n++
		}
	}
	add(&t.inside, lies(allocated) && lies(succeeded))
	add(&t.closer, math.Abs(l.s-f.s) <= math.Abs(l.s-p.s))
	add(&t.fInside, lies(failed))
	add(&t.fAbove, l.f > f.f)
	add(&t.sInside, lies(counts.success))
	add(&t.lowest, l.success() < min(f.success(), p.success()))
	if l.success() > max(f.success(), p.success()) {
		t.best++
		// The next best is FCFSPP or FCFS: is FLP better beyond chance?
		next := f
		if p.success() > f.success() {
			next = p
		}
		t.beyond = max(t.beyond, chance(outcome{cp1: next.s, fa: next.f}, outcome{cp1: l.s, fa: l.f}))
	}
	t.bound = t.bound && int(f.f) == c.exits
}

// state judges what the thesis says of FLP.
func (t *threeWays) state(b *bench, s *set) {
	whyBound, whyBest, whyLowest := "", "", ""
	if t.bound {
		whyBound = "FCFS loses a job at every unavailability event here (measured: F = events in each category), as " +
			"section 7.2.4 says of its own runs; no policy with a job a host can lose more, so that the two published " +
			"statements exclude each other"
		whyLowest = "F of FLP is nowhere above that of FCFS, for the reason given there, so that it is seldom the lowest"
	}
	f, p, l := t.sum[0].success(), t.sum[1].success(), t.sum[2].success()
	if t.beyond < bestOfMany && l < max(f, p) {
		whyBest = fmt.Sprintf("it is so by chance: at most %.1f standard errors better than the next, of %d comparisons; "+
			"over all of them success is %.2f %% with FCFS, %.2f %% with FCFSPP and %.2f %% with FLP", t.beyond, t.judged, f, p,
			l)
	}
	of := func(n int) string { return fmt.Sprintf("in %d of %d categories", n, t.judged) }
	b.statement(s, "A and S of FLP between those of FCFS and FCFSPP", "in all categories", of(t.inside),
		claim{t.inside == t.judged, "", ""})
	b.statement(s, "S of FLP closer to FCFS than to FCFSPP", "yes", of(t.closer), claim{2*t.closer > t.judged, "", ""})
	b.statement(s, "F of FLP between", "in most categories", of(t.fInside), claim{2*t.fInside > t.judged, "", ""})
	b.statement(s, "F of FLP above FCFS", "in some categories", of(t.fAbove), claim{t.fAbove > 0, "", whyBound})
	b.statement(s, "success of FLP between", "usually", of(t.sInside), claim{2*t.sInside > t.judged, "", ""})
	b.statement(s, "success of FLP the lowest of the three", "in some categories", of(t.lowest),
		claim{t.lowest > 0, "", whyLowest})
	b.statement(s, "success of FLP the best of the three", "never", of(t.best), claim{t.best == 0, "", whyBest})
}
