package allot

import (
	"errors"
	"fmt"
	"math"
)

// What a problem may be at most. Machines that execute all classes alike count
// as one group; when there are more groups than MaxGroups, those that are nearly
// alike are taken together too.
const (
	MaxClasses  = 64
	MaxMachines = 1 << 20
	MaxGroups   = 64
	// most bounds every number: beyond it sums and quotients would lose the small ones.
	most = 1e12
)

// ErrNothing is returned by Solve when no class with arrivals can be executed by
// any machine with capacity, so that there is nothing to divide.
var ErrNothing = errors.New("allot: no class that arrives can be executed anywhere")

// A Problem is what there is to divide, and among whom. Units are free, but all
// rates have the same.
type Problem struct {
	// Arrivals are alpha_i, by class: tasks in a unit of time. A class of rate 0
	// gets nothing.
	Arrivals []float64
	// Rates are mu_ij, by class and then by machine: tasks that the whole machine
	// would execute in a unit of time. 0 is a machine that cannot.
	Rates [][]float64
	// Capacities are a_j, by machine: how much of it there is, 1 for a whole one,
	// more for one that runs several tasks at once, 0 for one that is down.
	Capacities []float64
}

// A Solution is how the machines are divided.
type Solution struct {
	// Lambda is the largest factor of all arrivals that the machines can carry;
	// 1/Lambda is the ideal load.
	Lambda float64
	// Share is delta_ij, by class and then by machine, in the units of
	// Problem.Capacities. It is the caller's.
	Share [][]float64
	// Idle are classes that arrive and that no machine with capacity can execute:
	// Lambda leaves them out. nil if there are none.
	Idle []int
}

// Solve divides the machines. Equal problems have equal solutions. Which of
// several machines that are alike is split between classes is settled by their
// order: the classes, in theirs, take the last machines first. The error says what is wrong with the problem, or
// is ErrNothing.
func Solve(p *Problem) (*Solution, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	s := &Solution{Share: make([][]float64, len(p.Arrivals))}
	for i := range s.Share {
		s.Share[i] = make([]float64, len(p.Capacities))
	}
	groups := p.groups()
	var classes []int
	for i, alpha := range p.Arrivals {
		switch {
		case alpha == 0:
		case p.executes(i, groups):
			classes = append(classes, i)
		default:
			s.Idle = append(s.Idle, i)
		}
	}
	if len(classes) == 0 {
		return s, ErrNothing
	}
	lambda, shares, ok := p.maximize(classes, groups)
	if !ok {
		return nil, fmt.Errorf("allot: no optimum of %d classes and %d groups of machines was found in %d pivots",
			len(classes), len(groups), mostPivots)
	}
	s.Lambda = lambda
	for g := range groups {
		groups[g].divide(p, classes, shares[g], s.Share)
	}
	return s, nil
}

// executes says whether any group can execute a class.
func (p *Problem) executes(class int, groups []group) bool {
	for g := range groups {
		if groups[g].rates[class] > 0 {
			return true
		}
	}
	return false
}

// check refuses what is no problem.
func (p *Problem) check() error {
	n, m := len(p.Arrivals), len(p.Capacities)
	switch {
	case n == 0 || n > MaxClasses:
		return fmt.Errorf("allot: there are %d classes: 1 to %d can be solved", n, MaxClasses)
	case m > MaxMachines:
		return fmt.Errorf("allot: there are %d machines: at most %d can be solved", m, MaxMachines)
	case len(p.Rates) != n:
		return fmt.Errorf("allot: there are rates of %d classes, and arrivals of %d: give a row to each", len(p.Rates), n)
	}
	for i, alpha := range p.Arrivals {
		if !amount(alpha) {
			return fmt.Errorf("allot: class %d arrives at the rate %v: that is 0 to %v", i, alpha, float64(most))
		}
		if len(p.Rates[i]) != m {
			return fmt.Errorf("allot: class %d has rates of %d machines: there are %d", i, len(p.Rates[i]), m)
		}
		for j, mu := range p.Rates[i] {
			if !amount(mu) {
				return fmt.Errorf("allot: class %d is executed by machine %d at the rate %v: that is 0 to %v", i, j, mu,
					float64(most))
			}
		}
	}
	for j, a := range p.Capacities {
		if !amount(a) {
			return fmt.Errorf("allot: machine %d has the capacity %v: that is 0 to %v", j, a, float64(most))
		}
	}
	return nil
}

// amount says whether x is a rate or a capacity: 0, or a number neither so large
// nor so small that quotients overflow.
func amount(x float64) bool { return x == 0 || x >= 1/most && x <= most && !math.IsNaN(x) }
