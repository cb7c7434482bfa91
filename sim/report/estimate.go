package report

import (
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// An Estimate is the mean of one figure over runs that differ in their seed. The
// figure may be undefined in some; N counts the others.
type Estimate struct {
	N    int
	Mean float64 // NaN without any
	Std  float64 // of the sample; NaN with fewer than two
}

// level is the confidence of every interval.
const level = 0.95

// zhang95 is what Zhang multiplies with, whatever n is (Eq 7.5): the normal
// distribution's quantile for 95 %.
const zhang95 = 1.96

// NewEstimate summarises values; those that are NaN are left out.
func NewEstimate(values []float64) Estimate {
	var known []float64
	for _, v := range values {
		if !math.IsNaN(v) {
			known = append(known, v)
		}
	}
	e := Estimate{N: len(known), Mean: math.NaN(), Std: math.NaN()}
	switch {
	case e.N == 1:
		e.Mean = known[0]
	case e.N > 1:
		e.Mean, e.Std = stat.MeanStdDev(known, nil)
	}
	return e
}

// Half is half of the width of the mean's 95 % interval by Student's t
// distribution, for normally distributed values; NaN with fewer than two.
func (e Estimate) Half() float64 {
	if e.N < 2 {
		return math.NaN()
	}
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(e.N - 1)}.Quantile((1 + level) / 2)
	return t * e.Std / math.Sqrt(float64(e.N))
}

// Margin is Zhang's margin of error, 1.96 s / sqrt(n) (Eq 7.5). With few runs it
// is narrower than Half: for two by a factor of 6.5.
func (e Estimate) Margin() float64 { return zhang95 * e.Std / math.Sqrt(float64(e.N)) }
