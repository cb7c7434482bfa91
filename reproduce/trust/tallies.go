package trust

import (
	"fmt"
	"math"
	"math/rand/v2"

	"godwit/credibility"
	"godwit/reproduce"
)

// The pools as tallies count there: in an invited one ten tasks beyond what was seen, in an open one none.
var tallyPools = []struct {
	name  string
	terms credibility.Terms
	bonus float64
}{{"open pool", openPool, 0}, {"invited pool", invitedPool, credibility.Hearsay}}

// boundless is what a teller says that lies.
const boundless = 1e12

// liars are tellers beside those that are honest. They praise without measure, and show results of
// which so many are right.
type liars struct {
	n     int
	shows float64
}

// circle has several submitters meet one honest worker, each with a task a round, and tell each other after
// each what they found right. Each runs a result of each liar again a round. It returns the submitters.
func circle(terms credibility.Terms, bonus float64, submitters, tasks int, lie liars,
	rng *rand.Rand) []*acquaintance {
	all := make([]*acquaintance, submitters)
	said := make([]float64, submitters)
	tried := 0
	for i := range all {
		all[i] = begin(terms, honest, rng)
		all[i].bonus = bonus
		right := make([]int, lie.n) // of those tried of each liar
		all[i].told = func() (out []credibility.Praise) {
			for k, right := range said {
				if k != i {
					out = append(out, credibility.Praise{Weight: 1, Right: right})
				}
			}
			for k := range right {
				if rng.Float64() < lie.shows {
					right[k]++
				}
				out = append(out, credibility.Praise{Weight: float64(right[k]) / float64(tried+1), Right: boundless})
			}
			return out
		}
	}
	for range tasks {
		for _, a := range all {
			a.do()
		}
		for i, a := range all {
			said[i] = a.credit.Right(met)
		}
		tried++
	}
	return all
}

// expectedWith is expected where others tell, each so many times what was found right here, and so much
// more.
func expectedWith(terms credibility.Terms, bonus, times, more float64, tasks int) float64 {
	right := 0.0
	for range tasks {
		right += terms.Share(right + min(right+bonus, times*right+more))
	}
	return right
}

// tallies is what submitters save that tell each other what they found right, and what liars get through
// that tellers praise without measure.
func tallies(b *reproduce.Bench) error {
	const workers = 50
	b.FirstSeed = b.Seed
	b.Say("%d honest workers each, that do as many tasks for each submitter; seeds from %d on", workers, b.Seed)
	for k, p := range tallyPools {
		for _, s := range []int{1, 2, 8} {
			for _, n := range []int{10, 30, 100, 300} {
				got := sample(b, uint64(100*k+s), workers, func(rng *rand.Rand) float64 {
					audited := 0
					for _, a := range circle(p.terms, p.bonus, s, n, liars{}, rng) {
						audited += a.audited
					}
					return 100 * float64(audited) / intervals / float64(n*s)
				})
				judge(b, fmt.Sprintf("%s, %d submitters, audited of %d tasks, %%", p.name, s, n), "%.2f",
					100*expectedWith(p.terms, p.bonus, float64(s-1), 0, n)/float64(n), got)
			}
		}
	}
	lateSubmitters(b, workers)
	liarsAmong(b, workers)
	lyingTellers(b)
	return nil
}

// lateSubmitters is how much a submitter audits that meets a worker of which others found much right.
func lateSubmitters(b *reproduce.Bench, workers int) {
	const known = 300
	b.Say("a submitter that comes later: others found %d tasks of the worker right", known)
	for k, p := range tallyPools {
		for _, n := range []int{10, 30, 100} {
			got := sample(b, uint64(200+k), workers, func(rng *rand.Rand) float64 {
				a := praised(p.terms, p.bonus, honest, n, known, rng)
				return 100 * float64(a.audited) / intervals / float64(n)
			})
			judge(b, fmt.Sprintf("%s, comes later, audited of %d tasks, %%", p.name, n), "%.2f",
				100*expectedWith(p.terms, p.bonus, 0, known, n)/float64(n), got)
		}
	}
}

// liarsAmong is what an honest worker bears where most of those who tell lie. Those that show nothing right
// change nothing, and those that do no more than honest ones.
func liarsAmong(b *reproduce.Bench, workers int) {
	b.Say("open pool: eight that tell, of whom some lie and praise without measure")
	for k, c := range []struct {
		name   string
		honest int
		lie    liars
		times  float64 // what honest ones tell, or may be told, of what is known here
	}{
		{"seven lie and show nothing right", 1, liars{7, 0}, 0},
		{"six lie and show nothing right", 2, liars{6, 0}, 1},
		{"seven lie and show what is right", 1, liars{7, 1}, 1},
	} {
		for _, n := range []int{30, 100} {
			got := sample(b, uint64(250+k), workers, func(rng *rand.Rand) float64 {
				a := circle(openPool, 0, c.honest, n, c.lie, rng)[0]
				return 100 * float64(a.audited) / intervals / float64(n)
			})
			judge(b, fmt.Sprintf("%s, audited of %d tasks, %%", c.name, n), "%.2f",
				100*expectedWith(openPool, 0, c.times, 0, n)/float64(n), got)
		}
	}
}

// praised is meet of a worker of whom tellers say so much.
func praised(terms credibility.Terms, bonus float64, worker behaviour, tasks int, told float64,
	rng *rand.Rand) *acquaintance {
	a := begin(terms, worker, rng)
	a.bonus = bonus
	a.told = func() []credibility.Praise { return []credibility.Praise{{Weight: 1, Right: told}} }
	for a.done < tasks && !a.found {
		a.do()
	}
	return a
}

// lyingTellers is hits where every liar has friends that are believed and praise it without measure.
func lyingTellers(b *reproduce.Bench) {
	const workers = 5000
	b.Say("%d liars each whose friends praise them without measure: wrong results that stay among all", workers)
	for k, p := range []struct {
		name  string
		terms credibility.Terms
		bonus float64
		bound float64 // of wrong results among all; 0 where the first row is the bound
	}{
		{"open pool", openPool, 0, 2 * openPool.Target * math.E * (1 - openPool.Prior)},
		{"open pool with ten tasks more", openPool, credibility.Hearsay, 0},
		{"invited pool", invitedPool, credibility.Hearsay, 0},
	} {
		worst := 0.0
		for _, n := range []int{1, 3, 10, 30} {
			got := sample(b, uint64(300+100*k+n), workers, func(rng *rand.Rand) float64 {
				a := praised(p.terms, p.bonus, only(n-1, skips(1)), n, boundless, rng)
				return 1e3 * p.terms.Prior * float64(a.wrong) / float64(n)
			})
			right := expectedWith(p.terms, p.bonus, 0, boundless, n-1)
			judge(b, fmt.Sprintf("%s, after %d tasks, wrong of 1,000", p.name, n), "%.3f",
				1e3*p.terms.Prior*(1-p.terms.Share(2*right+p.bonus))/float64(n), got)
			worst = max(worst, reproduce.Mean(got)/1e3)
		}
		if p.bound == 0 {
			continue
		}
		b.Trend(p.name+", most that stays wrong", fmt.Sprintf("at most %.2e", p.bound), fmt.Sprintf("%.2e", worst),
			worst <= p.bound, "more tellers, and more praise, change nothing", "")
	}
}
