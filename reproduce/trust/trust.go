// Package trust holds what the rules of package credibility come to against what their
// formulas say: audits that honest workers bear, how soon liars and flaky machines are found,
// and what a liar that leaves in time gets through; beside replicas, BOINC's adaptive rule
// and the majority of three on the same crowds.
//
// It is no publication: what is computed takes the place of what was published.
package trust

import (
	"fmt"
	"math"
	"math/rand/v2"

	"godwit/credibility"
	"godwit/reproduce"
)

// Experiments returns the experiments, which need no trace.
func Experiments() []reproduce.Experiment {
	return []reproduce.Experiment{
		{Name: "T1", Title: "Audits that an honest worker bears", Where: "by tasks done", Do: audits},
		{Name: "T2", Title: "Chance that a liar is found", Where: "by intervals audited", Do: finds},
		{Name: "T3", Title: "Hit and run", Where: "one wrong result, and gone", Do: hits},
		{Name: "T4", Title: "Flaky machines", Where: "of honest owners", Do: flakies},
		{Name: "T5", Title: "Liars against audits and rivals", Where: "on the same crowds", Do: rivals},
		{Name: "T6", Title: "Records that submitters share", Where: "honest ones, and tellers that lie", Do: tallies},
	}
}

// The pools as they are unless their rules say otherwise.
var (
	openPool    = credibility.OpenPool
	invitedPool = credibility.InvitedPool
)

// expected is how much of a worker's tasks is audited right after so many, by the formula:
// the credit grows by the share that is audited.
func expected(terms credibility.Terms, tasks int) float64 {
	right := 0.0
	for range tasks {
		right += terms.Share(right)
	}
	return right
}

// judge puts what was computed beside the mean of what was obtained, which has to be within
// its interval.
func judge(b *reproduce.Bench, cell, format string, computed float64, obtained []float64) {
	mean, half := reproduce.Interval(obtained)
	// Of 40 cells one or two would lie outside their intervals of 95 % by chance alone.
	const wider = 3.29 / 1.96 // from 95 % to 99.9 %, where there are many values
	half *= wider
	verdict, note := reproduce.Within, fmt.Sprintf("± "+format+", half of the interval of 99.9 %%", half)
	if !(math.Abs(mean-computed) <= half+1e-12) {
		verdict, note = reproduce.Differs, ""
	}
	b.Add(verdict, cell, fmt.Sprintf(format, computed), fmt.Sprintf(format, mean), note)
}

// sample runs something for n seeds and returns what each gave.
func sample(b *reproduce.Bench, name uint64, n int, run func(rng *rand.Rand) float64) []float64 {
	out := make([]float64, n)
	b.ForEach(n, func(i int) {
		out[i] = run(rand.New(rand.NewPCG(b.Seed+uint64(i), name)))
	})
	return out
}

// audits is how much of its work is audited again of a worker that is always right.
func audits(b *reproduce.Bench) error {
	const workers = 50
	b.FirstSeed = b.Seed
	b.Say("%d honest workers each, tasks of %d intervals; seeds from %d on", workers, intervals, b.Seed)
	for k, p := range []struct {
		name  string
		terms credibility.Terms
	}{{"open pool", openPool}, {"invited pool", invitedPool}} {
		b.Say("%s: prior %g, target %g, least %g", p.name, p.terms.Prior, p.terms.Target, p.terms.Least)
		for _, n := range []int{10, 30, 100, 300, 1000, 10_000} {
			got := sample(b, uint64(k), workers, func(rng *rand.Rand) float64 {
				a := meet(p.terms, honest, n, rng)
				return 100 * float64(a.audited) / intervals / float64(n)
			})
			judge(b, fmt.Sprintf("%s, audited of %d tasks, %%", p.name, n), "%.2f",
				100*expected(p.terms, n)/float64(n), got)
		}
	}
	return nil
}

// finds is the chance that one task of a liar is found out.
func finds(b *reproduce.Bench) error {
	const tasks = 20_000
	b.FirstSeed = b.Seed
	b.Say("%d tasks of %d intervals each; seeds from %d on", tasks, intervals, b.Seed)
	for _, wrong := range []int{intervals / 2, 1} {
		for _, m := range []int{1, 2, 4, 8} {
			miss := 1.0
			for i := range m {
				miss *= float64(intervals-wrong-i) / float64(intervals-i)
			}
			terms := credibility.Terms{Target: 1, Least: float64(m) / intervals}
			got := sample(b, uint64(wrong*intervals+m), tasks, func(rng *rand.Rand) float64 {
				if meet(terms, skips(wrong), 1, rng).found {
					return 1
				}
				return 0
			})
			judge(b, fmt.Sprintf("%d of %d intervals wrong, %d audited", wrong, intervals, m), "%.3f", 1-miss, got)
		}
	}
	return nil
}

// hits is a liar that is right until a task, has one interval of that wrong, and leaves.
func hits(b *reproduce.Bench) error {
	const workers = 5000
	terms := openPool
	b.FirstSeed = b.Seed
	b.Say("open pool, %d liars each: wrong results that stay among all, if %g of the workers do so; seeds from %d on",
		workers, terms.Prior, b.Seed)
	// The credit of a task that is audited all but in full grows by 1, and 1 - share by
	// 1/(f/(1-f)/e/target): no more than so much of all that a liar hands in can be wrong.
	bound := terms.Prior * terms.Target * math.E * (1 - terms.Prior) / terms.Prior
	worst := 0.0
	for _, n := range []int{1, 3, 10, 30, 100, 300} {
		got := sample(b, uint64(n), workers, func(rng *rand.Rand) float64 {
			a := meet(terms, only(n-1, skips(1)), n, rng)
			return 1e3 * terms.Prior * float64(a.wrong) / float64(n)
		})
		computed := 1e3 * terms.Prior * (1 - terms.Share(expected(terms, n-1))) / float64(n)
		judge(b, fmt.Sprintf("after %d tasks, wrong of 1,000", n), "%.3f", computed, got)
		worst = max(worst, reproduce.Mean(got)/1e3)
	}
	b.Trend("most that stays wrong", fmt.Sprintf("at most %.2e", bound), fmt.Sprintf("%.2e", worst),
		worst <= bound, "a liar gets no more through, whenever it strikes", "")
	return nil
}

// flakies is machines that err by chance, among many that do not.
func flakies(b *reproduce.Bench) error {
	const machines, share, errs = 2000, .01, .05
	terms := invitedPool
	terms.Least = .05
	b.FirstSeed = b.Seed
	b.Say("invited pool with audits of %g; %g of the machines err in an interval of %g of their tasks; %d of these; "+
		"seeds from %d on", terms.Least, share, errs, machines, b.Seed)
	for _, n := range []int{10, 100, 300, 1000} {
		got := sample(b, uint64(n), machines, func(rng *rand.Rand) float64 {
			a := meet(terms, flaky(errs), n, rng)
			return 1e6 * share * float64(a.wrong) / float64(n)
		})
		judge(b, fmt.Sprintf("after %d tasks, wrong of a million", n), "%.1f",
			1e6*share*undetected(terms, errs, n), got)
	}
	return nil
}

// undetected is how much of its tasks is wrong and not found so far of a machine that errs.
func undetected(terms credibility.Terms, errs float64, tasks int) float64 {
	right, free, wrong := 0.0, 1.0, 0.0 // of free machines, those not found; wrong results of these
	for range tasks {
		a := terms.Share(right)
		caught, slips := errs*a, errs*(1-a)
		wrong = wrong*(1-caught) + free*slips
		free *= 1 - caught
		right += a
	}
	return wrong / float64(tasks)
}

// Crowds that meet each rule in rivals.
var crowds = []struct {
	name string
	crowd
}{
	{"all honest", crowd{as: honest}},
	{"a tenth skips half of its work", crowd{liars: .1, as: skips(intervals / 2)}},
	{"a tenth makes up one interval of each task", crowd{liars: .1, as: skips(1)}},
	{"a tenth lies from its 51st task on", crowd{liars: .1, as: late(50, skips(1))}},
	{"a tenth lies alike", crowd{liars: .1, as: skips(intervals), collude: true}},
	{"a third lies alike", crowd{liars: 1. / 3, as: skips(intervals), collude: true}},
	{"a hundredth errs in one task of twenty", crowd{liars: .01, as: flaky(.05)}},
}

// rivals is what each rule delivers of each crowd, and at which price.
func rivals(b *reproduce.Bench) error {
	const hosts, each, runs = 100, 300, 10
	b.FirstSeed = b.Seed
	b.Say("%d hosts with %d tasks each, means of %d runs; an open pool's terms; seeds from %d on", hosts, each, runs,
		b.Seed)
	t := reproduce.Table{Experiment: "T5",
		Title:  "wrong results of 1,000 delivered, work beyond each task once, liars found",
		Header: []string{"CROWD", "RULE", "WRONG", "EXTRA", "FOUND"}}
	for k, c := range crowds {
		terms := openPool
		terms.Prior = max(terms.Prior, c.liars)
		add := func(rule string, as func(rng *rand.Rand) account) {
			parts := make([]account, runs)
			b.ForEach(runs, func(i int) { parts[i] = as(rand.New(rand.NewPCG(b.Seed+uint64(i), uint64(k)))) })
			t.Rows = append(t.Rows, append([]string{c.name, rule}, texts(parts)...))
		}
		add("audits", func(rng *rand.Rand) account { return c.audit(terms, hosts, each, rng) })
		for _, rule := range votingRules {
			add(rule.name, func(rng *rand.Rand) account { return c.vote(rule, hosts, each, rng) })
		}
	}
	b.Tables = append(b.Tables, t)
	return nil
}

// texts are the wrong results, the extra work and the liars found of some accounts together.
func texts(parts []account) []string {
	var sum account
	for _, a := range parts {
		sum.tasks, sum.wrong, sum.runs = sum.tasks+a.tasks, sum.wrong+a.wrong, sum.runs+a.runs
		sum.liars, sum.found = sum.liars+a.liars, sum.found+a.found
	}
	found := "-"
	if sum.liars > 0 {
		found = reproduce.Percent(float64(sum.found) / float64(sum.liars))
	}
	wrong := fmt.Sprintf("%.3f", 1e3*float64(sum.wrong)/float64(sum.tasks))
	return []string{wrong, reproduce.Percent(sum.extra()), found}
}
