// Package trials computes statistics of Monte Carlo trials in one pass and bounded memory, and the number of trials
// that a confidence interval still needs.
package trials

import "math"

// MaxMagnitude is the largest absolute value that a Summary takes. The squares of a trillion such numbers can be added.
const MaxMagnitude = 1e140

// A Summary describes a set of numbers. It does not keep them. The zero value describes the empty set.
type Summary struct {
	n               uint64
	mean, squares   float64 // squares is the sum of squared differences from the mean
	least, greatest float64
	histogram       Histogram
}

// Add adds a number. It returns false, and adds nothing, if the number is not finite or exceeds MaxMagnitude.
//
// The update is by B. P. Welford, Note on a Method for Calculating Corrected Sums of Squares and Products,
// Technometrics 4(3), 1962.
func (s *Summary) Add(x float64) bool {
	if !(math.Abs(x) <= MaxMagnitude) { // NaN, too
		return false
	}
	x += 0 // -0 becomes 0
	if s.n == 0 {
		s.least, s.greatest = x, x
	}
	s.n++
	difference := x - s.mean
	s.mean += difference / float64(s.n)
	s.squares += float64(difference * (x - s.mean)) // the conversion forbids a fused multiply-add, which rounds otherwise
	s.least, s.greatest = min(s.least, x), max(s.greatest, x)
	s.histogram.add(x)
	return true
}

// Merge adds all numbers of o.
//
// The formula is by T. F. Chan, G. H. Golub and R. J. LeVeque, Updating Formulae and a Pairwise Algorithm for Computing
// Sample Variances, Stanford STAN-CS-79-773, 1979.
func (s *Summary) Merge(o *Summary) {
	switch {
	case o.n == 0:
		return
	case s.n == 0:
		*s = *o
		s.histogram.counts = append([]uint64(nil), o.histogram.counts...)
		return
	}
	a, b := float64(s.n), float64(o.n)
	difference := o.mean - s.mean
	s.n += o.n
	s.mean += float64(difference * (b / (a + b)))
	s.squares += o.squares + float64(difference*difference*(a/(a+b))*b)
	s.least, s.greatest = min(s.least, o.least), max(s.greatest, o.greatest)
	s.histogram.merge(&o.histogram)
}

// N returns the number of numbers.
func (s *Summary) N() uint64 { return s.n }

// Mean returns the mean; 0 for the empty set.
func (s *Summary) Mean() float64 { return s.mean }

// Least returns the least number; 0 for the empty set.
func (s *Summary) Least() float64 { return s.least }

// Greatest returns the greatest number; 0 for the empty set.
func (s *Summary) Greatest() float64 { return s.greatest }

// Deviation returns the standard deviation of the sample, with n-1 in the denominator. It is +Inf for fewer than two
// numbers.
func (s *Summary) Deviation() float64 {
	if s.n < 2 {
		return math.Inf(1)
	}
	return math.Sqrt(max(0, s.squares) / float64(s.n-1))
}

// HalfWidth returns half the width of the 95 % confidence interval of the mean, by Student's t: the interval is
// Mean() ± HalfWidth(). It is +Inf for fewer than two numbers.
func (s *Summary) HalfWidth() float64 {
	if s.n < 2 {
		return math.Inf(1)
	}
	return StudentQuantile(0.975, s.n-1) * s.Deviation() / math.Sqrt(float64(s.n))
}

// Histogram returns the counts of the numbers by intervals. The caller may keep it.
func (s *Summary) Histogram() Histogram {
	h := s.histogram
	h.counts = append([]uint64(nil), h.counts...)
	return h
}
