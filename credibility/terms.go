package credibility

import (
	"fmt"
	"math"
)

// Terms are what a pool assumes and asks for.
type Terms struct {
	// Prior is the share of workers that may err or lie, before anything is known of them:
	// 0 to below 1.
	Prior float64
	// Target is the chance of being wrong at which a result is accepted: above 0, at most 1.
	Target float64
	// Least is the share of each task that is audited however well its worker is known: 0
	// to 1.
	Least float64
}

// What pools assume unless they say otherwise, by who may be a member. In an open one anybody may,
// under as many names as he likes; in an invited one each has been let in; in a listed one all are
// known, and what is audited finds hardware that errs.
var (
	OpenPool    = Terms{Prior: .10, Target: 1e-3, Least: .03}
	InvitedPool = Terms{Prior: .01, Target: 1e-3, Least: .01}
	ListedPool  = Terms{Prior: 0, Target: 1e-3, Least: .005}
)

// Check returns an error that names what is out of its range.
func (t Terms) Check() error {
	switch {
	case !(t.Prior >= 0 && t.Prior < 1):
		return fmt.Errorf("a prior of %g: it is at least 0 and below 1", t.Prior)
	case !(t.Target > 0 && t.Target <= 1):
		return fmt.Errorf("a target of %g: it is above 0 and at most 1", t.Target)
	case !(t.Least >= 0 && t.Least <= 1):
		return fmt.Errorf("a least share of %g: it is 0 to 1", t.Least)
	}
	return nil
}

// Doubt is the chance that a result is wrong that nobody audited, of a worker of whose
// work so many tasks were audited and all were right: the prior, or f/(1-f) / (e K) where
// that is less (Sarmenta 2001, with blacklisting). It never grows with right.
func (t Terms) Doubt(right float64) float64 {
	if !(right > 0) {
		return t.Prior
	}
	return min(t.Prior, t.Prior/(1-t.Prior)/(math.E*right))
}

// Share is the part of the worker's next task to be audited, Least to 1: as much as brings
// the doubt to the target, if the parts are drawn after the worker has signed all of them.
func (t Terms) Share(right float64) float64 {
	doubt := t.Doubt(right)
	if doubt <= t.Target {
		return t.Least
	}
	return max(t.Least, 1-t.Target/doubt)
}

// After is the chance that a result is wrong of which m of n intervals were audited and are
// right. n is at least 1.
func (t Terms) After(right float64, m, n int) float64 {
	return t.Doubt(right) * (1 - float64(min(m, n))/float64(n))
}

// Agreeing is the chance that a result is wrong on which two workers agree that have
// nothing to do with each other and are wrong with these chances.
func Agreeing(a, b float64) float64 {
	if a*b == 0 {
		return 0
	}
	return a * b / (a*b + (1-a)*(1-b))
}
