package trials

import "math"

// A Rule decides how many trials a point of a sweep gets: until the 95 % confidence interval of a mean is narrow
// enough.
type Rule struct {
	Most     uint64  // maximum number of trials of a point, including failed ones
	Within   float64 // greatest half width of the interval that is narrow enough; > 0
	Relative bool    // Within is a share of the mean's absolute value
}

// Narrow reports whether the interval is narrow enough.
func (r *Rule) Narrow(s *Summary) bool { return s.HalfWidth() <= r.target(s) }

// target is the greatest half width that is narrow enough.
func (r *Rule) target(s *Summary) float64 {
	if r.Relative {
		return r.Within * math.Abs(s.Mean())
	}
	return r.Within
}

// More returns the number of further trials of a point after tried trials with the numbers s. It returns 0 if the
// interval is narrow enough or the point had Most trials. Otherwise the variance decides, so that t s / sqrt(n) becomes
// the target, but More returns at least a tenth of tried and at most tried.
func (r *Rule) More(s *Summary, tried uint64) uint64 {
	if r.Narrow(s) || tried >= r.Most {
		return 0
	}
	least, most := max(1, (tried+9)/10), max(1, tried)
	more := most
	if needed := r.needed(s); needed < float64(s.N())+float64(most) {
		more = max(least, uint64(needed)-s.N())
	}
	return min(more, r.Most-tried)
}

// needed returns the number of numbers with which the interval would be narrow enough, at least one more than there
// are: the smallest n with t s / sqrt(n) <= target, where t has n-1 degrees of freedom. It is +Inf if the variance is
// not known or the target is 0.
func (r *Rule) needed(s *Summary) float64 {
	target := r.target(s)
	if s.N() < 2 || target == 0 {
		return math.Inf(1)
	}
	ratio := s.Deviation() / target
	// t decreases with n, so that each estimate by the t of a smaller n is too large, and by that of a larger n too
	// small. Two steps come within a few trials.
	n := float64(s.N())
	for range 3 {
		t := StudentQuantile(0.975, uint64(min(max(n, 2), 1e15))-1)
		n = math.Ceil(t * t * ratio * ratio)
	}
	return max(n, float64(s.N())+1)
}
