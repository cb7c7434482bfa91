package sweep

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// elapsed returns when work that begins at a time and takes so long on the undisturbed
// node is done, as a time from the beginning of the scenario.
func (w Slowed) elapsed(begin, work time.Duration) time.Duration {
	if w.Every == 0 || w.For == 0 || w.Speed == 1 {
		return begin + work
	}
	// Whole periods first: a chunk may last over many.
	per := w.For - time.Duration(float64(w.For)*(1-w.Speed)) + w.Every - w.For
	at := begin + work/per*w.Every
	for left := work % per; left > 0; {
		in := at % w.Every
		if in < w.For {
			if does := time.Duration(float64(w.For-in) * w.Speed); does < left {
				at += w.For - in
				left -= does
				continue
			}
			return at + time.Duration(math.Round(float64(left)/w.Speed))
		}
		step := min(left, w.Every-in)
		at += step
		left -= step
	}
	return at
}

// at returns the part of the node's usual speed that it has at a time.
func (w Slowed) at(t time.Duration) float64 {
	if w.Every > 0 && t%w.Every < w.For {
		return w.Speed
	}
	return 1
}

// does returns how much undisturbed work fits between two times.
func (w Slowed) does(from, to time.Duration) float64 {
	upTo := func(t time.Duration) float64 {
		if w.Every == 0 {
			return t.Seconds()
		}
		whole, in := t/w.Every, t%w.Every
		slow := float64(whole)*w.For.Seconds() + min(in, w.For).Seconds()
		return t.Seconds() - slow*(1-w.Speed)
	}
	if to <= from {
		return 0
	}
	return upTo(to) - upTo(from)
}

// schedule returns the places, of runs in the piece, in the order in which the node
// ends them, and when it does, in work time from when it begins: trials go to slots as
// these are free, in order.
func (s *Scenario) schedule(n *Node, p *piece, places []int) ([]int, []time.Duration) {
	ends := make([]time.Duration, len(places))
	trials := max(s.Trials, 1)
	if s.Spread == 0 {
		for k := range places {
			full := (int64(k+1)*int64(trials) + int64(n.Slots) - 1) / int64(n.Slots)
			ends[k] = time.Duration(full) * n.Time
		}
		return places, ends // in order already
	}
	free := make([]time.Duration, n.Slots)
	for k, at := range places {
		rng := s.random(p.runs[at])
		for range trials {
			i := 0
			for j := range free {
				if free[j] < free[i] {
					i = j
				}
			}
			free[i] += time.Duration(float64(n.Time) * s.length(rng))
			ends[k] = max(ends[k], free[i])
		}
	}
	order := make([]int, len(places))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(ends[a], ends[b]) })
	sorted := make([]int, len(places))
	in := make([]time.Duration, len(places))
	for i, k := range order {
		sorted[i], in[i] = places[k], ends[k]
	}
	return sorted, in
}

// random is the source of a run's lengths, whoever does it.
func (s *Scenario) random(run int64) *rand.Rand {
	return rand.New(rand.NewPCG(s.Seed, uint64(run)))
}

// length draws a trial's length: mean 1, coefficient of variation Spread, by the gamma
// distribution of shape 1/Spread^2 (G. Marsaglia and W. W. Tsang, "A simple method for
// generating gamma variables", ACM Trans. Math. Software 26(3), 2000; their section 6
// for a shape below 1).
func (s *Scenario) length(rng *rand.Rand) float64 {
	if s.Spread == 0 {
		return 1
	}
	shape := 1 / (s.Spread * s.Spread)
	a, boost := shape, 1.0
	if a < 1 {
		boost = math.Pow(1-rng.Float64(), 1/a)
		a++
	}
	d := a - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := rng.NormFloat64()
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		v = v * v * v
		if math.Log(1-rng.Float64()) < x*x/2+d-d*v+d*math.Log(v) {
			return d * v * boost / shape
		}
	}
}

// bound is the least time in which the nodes could do all if runs could be divided at
// will and cost nothing to send: all end at the same instant.
func (s *Scenario) bound() time.Duration {
	work := s.work()
	done := func(t time.Duration) float64 {
		sum := 0.0
		for i := range s.Nodes {
			n := &s.Nodes[i]
			end := t
			if n.Leaves > 0 {
				end = min(end, n.Leaves)
			}
			sum += n.Slowed.does(n.Joins, end) * float64(n.Slots) / n.Time.Seconds()
		}
		return sum
	}
	high := time.Second
	for done(high) < work && high < math.MaxInt64/2 {
		high *= 2
	}
	low := time.Duration(0)
	for high-low > 1 {
		if mid := low + (high-low)/2; done(mid) < work {
			low = mid
		} else {
			high = mid
		}
	}
	return high
}

// work is how many trials of mean length all runs are.
func (s *Scenario) work() float64 {
	trials := max(s.Trials, 1)
	if s.Spread == 0 {
		return float64(s.Runs) * float64(trials)
	}
	sum := 0.0
	for run := range s.Runs {
		rng := s.random(run)
		for range trials {
			sum += s.length(rng)
		}
	}
	return sum
}
