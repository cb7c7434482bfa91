package chunk

import (
	"cmp"
	"slices"

	"godwit/internal/spec"
)

func init() {
	Register("umr", Kind{"rounds transfer latency start",
		"uniform multi-round: rounds in which all members compute for the same time, each longer than the one before",
		func(ps *spec.Params, j Job) Policy {
			rounds, c := readRounds(ps), readCosts(ps)
			p := &planned{pool: pool{job: j}}
			p.divide = func(workers []worker, runs int64) (division, int64) {
				return uniformRounds(workers, float64(runs), c, rounds), runs
			}
			return p
		}})
	Register("mrrs", Kind{"rounds transfer latency start",
		"multi-round with resource selection: umr by time to send and compute, for the members that are expected to end first",
		func(ps *spec.Params, j Job) Policy {
			rounds, c := readRounds(ps), readCosts(ps)
			p := &planned{pool: pool{job: j}}
			p.divide = func(workers []worker, runs int64) (division, int64) {
				return selectedRounds(workers, float64(runs), c, rounds), runs
			}
			return p
		}})
}

// readRounds reads the number of rounds; 0 has the policy choose.
func readRounds(ps *spec.Params) int { return ps.Integer("rounds", 0, 0, mostUniform) }

// mostUniform bounds the rounds of which the best number is searched for.
const mostUniform = 1000

// worthwhile is the least part of the time in all that one more round has to save.
const worthwhile = 1e-6

// uniform is a plan in which every worker has the same share of each round, but for the last.
type uniform struct {
	upTo  []float64 // sum of the rounds, through each
	share []float64 // of each worker; they sum to 1
	last  []float64 // what each worker gets more in the last round; nil for nothing
}

func (u *uniform) rounds() int { return len(u.upTo) }

func (u *uniform) through(k, j int) float64 {
	if j <= 0 {
		return 0
	}
	x := u.share[k] * u.upTo[j-1]
	if j == len(u.upTo) && u.last != nil {
		before := 0.0
		if j > 1 {
			before = u.share[k] * u.upTo[j-2]
		}
		x = max(before, x+u.last[k])
	}
	return x
}

// A series is rounds that follow from one another: r_{j+1} = theta r_j + shift.
type series struct {
	theta, shift float64
	first        float64 // the least that the first of several rounds may have
}

// best returns the rounds, of that sum, for which time is least; with a fixed number of
// rounds, if that is not 0, or with as many of them as there can be. time is a convex function
// of the number of rounds, so the search ends when one more does not pay.
func (s series) best(sum float64, fixed int, time func(rounds int, first, last float64) float64) []float64 {
	number, least, r := 1, time(1, sum, sum), sum
	// The sum of n rounds is a r_0 + b shift, and the last of them is power r_0 + gain shift.
	a, b, power, gain := 1.0, 0.0, 1.0, 0.0
	for n := 2; n <= mostUniform && (fixed == 0 || n <= fixed); n++ {
		power, gain = power*s.theta, gain*s.theta+1
		a, b = a+power, b+gain
		r0 := (sum - b*s.shift) / a
		last := power*r0 + gain*s.shift
		if !(r0 >= s.first && last >= s.first) {
			break
		}
		t := time(n, r0, last)
		if fixed == 0 && !(t < least*(1-worthwhile)) {
			break
		}
		number, least, r = n, t, r0
	}
	upTo, total := make([]float64, number), 0.0
	for j := range upTo {
		total += max(0, r)
		upTo[j], r = min(total, sum), s.theta*r+s.shift
	}
	upTo[number-1] = sum
	return upTo
}

// uniformRounds is UMR (Y. Yang and H. Casanova, "UMR: a multi-round algorithm for scheduling
// divisible workloads", IPDPS 2003; Y. Yang, K. van der Raadt and H. Casanova, "Multiround
// algorithms for scheduling divisible loads", IEEE Trans. Parallel Distrib. Syst. 16(11),
// 2005). In round j all N workers compute for the same time, start + chunk/S_i, in which the
// source sends the next round to all of them:
//
//	chunk_ij = S_i r_j / S,  S = sum of S_i
//	N latency + transfer r_{j+1} = start + r_j / S
//	r_{j+1} = theta r_j + (start - N latency) / transfer,  theta = 1 / (transfer S)
//
// The number of rounds M is the one that minimizes the published estimate
//
//	W / S + M start + (N latency + transfer r_0) / 2
//
// In the last round workers that began later get less, so that all end together. If theta
// were 1 or less workers would wait for the source. Then the workers of the least S_i/B_i,
// here the slowest, are chosen until theta would be (published section "resource selection").
// Rounds have a run for each worker or more (ours: runs are not divisible).
func uniformRounds(all []worker, runs float64, c costs, fixed int) *uniform {
	workers, speed := all, 0.0
	for _, w := range all {
		speed += w.speed
	}
	if c.transfer*speed >= 1 {
		workers = slices.Clone(all)
		slices.SortStableFunc(workers, func(a, b worker) int { return cmp.Compare(a.speed, b.speed) })
		speed = workers[0].speed
		k := 1
		for ; k < len(workers) && c.transfer*(speed+workers[k].speed) < 1; k++ {
			speed += workers[k].speed
		}
		workers = workers[:k]
	}
	n := float64(len(workers))
	s := series{1 / (c.transfer * speed), (c.start - n*c.latency) / c.transfer, n}
	u := &uniform{upTo: s.best(runs, fixed, func(rounds int, first, _ float64) float64 {
		return runs/speed + float64(rounds)*c.start + (n*c.latency+c.transfer*first)/2
	})}
	u.spread(all, workers, func(w worker) float64 { return w.speed / speed })
	u.level(c, all, speed)
	return u
}

// spread gives the chosen workers their shares, and the others none.
func (u *uniform) spread(all, chosen []worker, share func(worker) float64) {
	u.share = make([]float64, len(all))
	in := make(map[Node]bool, len(chosen))
	for _, w := range chosen {
		in[w.node] = true
	}
	for k, w := range all {
		if in[w.node] {
			u.share[k] = share(w)
		}
	}
}

// level has workers that receive their first chunk later get less in the last round: S_i times
// the time by which they begin after the mean.
func (u *uniform) level(c costs, all []worker, speed float64) {
	u.last = make([]float64, len(all))
	begins, mean := 0.0, 0.0
	for k, w := range all {
		if u.share[k] > 0 {
			begins += c.latency + c.transfer*u.share[k]*u.upTo[0]
			u.last[k] = begins
			mean += begins * w.speed / speed
		}
	}
	for k, w := range all {
		if u.share[k] > 0 {
			u.last[k] = (mean - u.last[k]) * w.speed
		}
	}
}

// mostSets bounds the sets of workers that are compared.
const mostSets = 64

// selectedRounds is MRRS (S. Elnaffar and N. The Loc, "A dynamic grid scheduler with a resource
// selection policy", SITIS 2006, Springer 2009). Rounds are UMR's, but the time that is the same
// for all workers of a round, and for which the source sends the next round, includes sending:
//
//	latency + transfer chunk_ij + start + chunk_ij / S_i
//	chunk_ij = G_i r_j / G,  G_i = S_i / (1 + transfer S_i),  G = sum of G_i
//	r_{j+1} = theta r_j + (start + latency - N latency) / transfer,  theta = 1 / (transfer G)
//
// As in UMR theta has to be above 1. The publication selects the workers that minimize the
// execution time. Here sets of the fastest workers are compared, as all members have one
// bandwidth, each with its best number of rounds, by the time in which the source sends
// everything and the last chunk is computed:
//
//	M N latency + transfer W + start + r_{M-1} / G
func selectedRounds(all []worker, runs float64, c costs, fixed int) *uniform {
	rate := func(w worker) float64 { return w.speed / (1 + c.transfer*w.speed) }
	order := slices.Clone(all)
	slices.SortStableFunc(order, func(a, b worker) int { return cmp.Compare(b.speed, a.speed) })
	var fit []worker
	var rates []float64 // of the first workers of fit, together
	sum := 0.0
	for _, w := range order {
		if len(fit) == 0 || c.transfer*(sum+rate(w)) < 1 {
			sum += rate(w)
			fit, rates = append(fit, w), append(rates, sum)
		}
	}
	var upTo []float64
	size, least := 0, 0.0
	for i := range min(mostSets, len(fit)) {
		k := (i + 1) * len(fit) / min(mostSets, len(fit))
		n, g := float64(k), rates[k-1]
		time := func(rounds int, _, last float64) float64 {
			return float64(rounds)*n*c.latency + c.transfer*runs + c.start + last/g
		}
		s := series{1 / (c.transfer * g), (c.start + c.latency - n*c.latency) / c.transfer, n}
		rounds := s.best(runs, fixed, time)
		last := runs
		if m := len(rounds); m > 1 {
			last -= rounds[m-2]
		}
		if t := time(len(rounds), 0, last); upTo == nil || t < least {
			upTo, size, least = rounds, k, t
		}
	}
	u := &uniform{upTo: upTo}
	u.spread(all, fit[:size], func(w worker) float64 { return rate(w) / rates[size-1] })
	return u
}
