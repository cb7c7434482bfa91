package predictor

import (
	"math"
	"math/rand/v2"
	"slices"
)

// A Measure is one of the figures of a Score that have confidence intervals.
type Measure uint8

// The measures.
const (
	AUC Measure = iota
	Brier
	LogLoss
	Pick
	measures
)

// Of returns the figure of a score.
func (m Measure) Of(s Score) float64 {
	return [...]float64{AUC: s.AUC, Brier: s.Brier, LogLoss: s.LogLoss, Pick: s.Pick}[m]
}

// A Spread holds what the measures come to when the hosts are drawn again, with
// replacement: the answers about one host hang together, so hosts are what is
// drawn, not questions (the cluster bootstrap).
type Spread [measures][]float64

// Resamples is how often hosts are drawn for a 95 % interval.
const Resamples = 400

// Bootstrap draws the hosts n times. Scorers of the same questions that draw
// with one seed draw the same hosts, so that their differences can be taken.
func (s *Scorer) Bootstrap(n int, seed uint64) Spread {
	asked := make([]bool, s.hosts)
	for _, q := range s.questions {
		asked[q.Host] = true
	}
	var hosts []int
	for i, a := range asked {
		if a {
			hosts = append(hosts, i)
		}
	}
	random := rand.New(rand.NewPCG(seed, 1))
	w := make([]float64, s.hosts)
	var out Spread
	for range n {
		clear(w)
		for range hosts {
			w[hosts[random.IntN(len(hosts))]]++
		}
		score := s.weighted(w)
		for m := range measures {
			out[m] = append(out[m], m.Of(score))
		}
	}
	return out
}

// Interval is the 95 % percentile interval of a measure; NaN where the draws
// could not decide it.
func (s *Spread) Interval(m Measure) (low, high float64) { return interval(s[m]) }

// Difference is the 95 % interval of s minus t, of draws with one seed.
func (s *Spread) Difference(t *Spread, m Measure) (low, high float64) {
	d := make([]float64, min(len(s[m]), len(t[m])))
	for i := range d {
		d[i] = s[m][i] - t[m][i]
	}
	return interval(d)
}

func interval(draws []float64) (low, high float64) {
	x := slices.DeleteFunc(slices.Clone(draws), math.IsNaN)
	if len(x) == 0 {
		return math.NaN(), math.NaN()
	}
	slices.Sort(x)
	at := func(q float64) float64 { return x[int(math.Round(q*float64(len(x)-1)))] }
	return at(.025), at(.975)
}
