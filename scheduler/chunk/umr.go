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

// readRounds reads the number of rounds; 0 means the best number.
func readRounds(ps *spec.Params) int { return ps.Integer("rounds", 0, 0, mostUniform) }

// mostUniform bounds the search for the best number of rounds.
const mostUniform = 1000

// worthwhile is the least relative saving of time for which a round is added.
const worthwhile = 1e-6

// uniform is a plan in which a worker's share is the same in all rounds except the last.
type uniform struct {
	upTo  []float64 // prefix sums of the rounds
	share []float64 // workers' shares of a round, with sum 1
	last  []float64 // corrections to workers' chunks of the last round; nil means no correction
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

// A series is a recursion of round sizes: r_{j+1} = theta r_j + shift.
type series struct {
	theta, shift float64
	first        float64 // minimum size of the first and last of several rounds
}

// best returns the prefix sums of the rounds, with the given sum, that take the least time. If fixed
// is not 0, the number of rounds is fixed, or the greatest possible number below it. Otherwise the
// search ends when another round does not save time, because time is convex in the number.
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
// 2005). In round j all N workers compute for the same time, start + chunk/S_i. Meanwhile the
// source sends the next round to all workers:
//
//	chunk_ij = S_i r_j / S,  S = sum of S_i
//	N latency + transfer r_{j+1} = start + r_j / S
//	r_{j+1} = theta r_j + (start - N latency) / transfer,  theta = 1 / (transfer S)
//
// The number of rounds M is the one that minimizes the published estimate
//
//	W / S + M start + (N latency + transfer r_0) / 2
//
// In the last round, workers that started later receive less, so all workers end together. Theta
// has to be above 1, because otherwise workers wait for the source. If it is not, workers are chosen
// in increasing order of S_i/B_i, here of speed, as long as theta stays above 1 (published section
// "resource selection"). A round contains at least one run per worker (ours, because runs are not
// divisible).
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

// spread sets the shares of the chosen workers. The other workers' shares are 0.
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

// level corrects the last round by S_i times the difference between the mean start and the
// worker's start, so that all workers end together.
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

// mostSets bounds the number of worker sets that are compared.
const mostSets = 64

// selectedRounds is MRRS (S. Elnaffar and N. The Loc, "A dynamic grid scheduler with a resource
// selection policy", SITIS 2006, Springer 2009). As in UMR, a round takes the same time at all
// workers and lasts as long as the source sends the next round. Here this time includes sending:
//
//	latency + transfer chunk_ij + start + chunk_ij / S_i
//	chunk_ij = G_i r_j / G,  G_i = S_i / (1 + transfer S_i),  G = sum of G_i
//	r_{j+1} = theta r_j + (start + latency - N latency) / transfer,  theta = 1 / (transfer G)
//
// Theta has to be above 1. The publication selects the workers that minimize the execution time.
// Here all members have one bandwidth, so the candidates are sets of the fastest workers. Each set is
// evaluated with its best number of rounds. Its estimated time is the time to send all runs and to
// compute the last chunk:
//
//	M N latency + transfer W + start + r_{M-1} / G
func selectedRounds(all []worker, runs float64, c costs, fixed int) *uniform {
	rate := func(w worker) float64 { return w.speed / (1 + c.transfer*w.speed) }
	order := slices.Clone(all)
	slices.SortStableFunc(order, func(a, b worker) int { return cmp.Compare(b.speed, a.speed) })
	var fit []worker
	var rates []float64 // prefix sums of the rates of fit
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
