package predictor

import "math"

// terms is how many terms the largest fit has.
const terms = 17

// A fit is a logistic regression that learns one answer after the other: the log-odds of
// a stay are a sum of terms, each with a weight within bounds of its own. It keeps, of all
// answers, the sums of the quadratic that the loss of each is like at the weights of then
// (one step of Newton's method for each answer, as in the online Newton step of Hazan,
// Agarwal and Kale 2007), so its size does not grow with what it saw. A zero fit has to be
// given a memory, bounds and first weights.
type fit struct {
	n             int            // terms
	least, most   [terms]float64 // bounds of the weights
	first, weight [terms]float64 // before anything was learnt, and now
	firm          [terms]float64 // how hard first is held on to, as a curvature
	curvature     [terms][terms]float64
	pull          [terms]float64
	seen, memory  float64 // answers: counted, and remembered at the most
}

const (
	// fitMemory is how many answers the fits of all parts remember at the most: months of hundreds of
	// hosts. With a fiftieth of it hosts that hardly ever leave were told apart worse.
	fitMemory = 1_000_000
	// leastCurvature has an answer that was foretold for sure count for something if it
	// comes out the other way.
	leastCurvature = 1e-4
	// fitSweeps and fitSlip end the search for weights.
	fitSweeps = 30
	fitSlip   = 1e-4
)

// bound gives a term its bounds, its first weight and how hard that is held on to.
func (f *fit) bound(term int, least, most, first, firm float64) {
	f.least[term], f.most[term] = least, most
	f.first[term], f.weight[term], f.firm[term] = first, first, firm
}

// odds are the log-odds of a stay.
func (f *fit) odds(x *[terms]float64) float64 {
	z := 0.0
	for i, w := range &f.weight { // beyond the last term weights are 0
		z += w * x[i]
	}
	return z
}

// learn counts an answer, 1 or 0. The weights change with solve.
func (f *fit) learn(x *[terms]float64, y float64) {
	z := f.odds(x)
	p := odds(z)
	bend := max(p*(1-p), leastCurvature)
	toward := bend*z + y - p
	if f.seen++; f.seen > f.memory {
		f.fade(1 - 1/f.memory)
	}
	for i := range f.n {
		if x[i] == 0 {
			continue
		}
		for j := range f.n {
			f.curvature[i][j] += bend * x[i] * x[j]
		}
		f.pull[i] += toward * x[i]
	}
}

func (f *fit) fade(by float64) {
	f.seen *= by
	for i := range f.n {
		for j := range f.n {
			f.curvature[i][j] *= by
		}
		f.pull[i] *= by
	}
}

// solve finds the best weights within the bounds, one term after the other.
func (f *fit) solve() {
	for range fitSweeps {
		farthest := 0.0
		for i := range f.n {
			s := f.pull[i] + f.firm[i]*f.first[i] + f.curvature[i][i]*f.weight[i]
			for j := range f.n {
				s -= f.curvature[i][j] * f.weight[j]
			}
			w := max(f.least[i], min(f.most[i], s/(f.curvature[i][i]+f.firm[i])))
			farthest = max(farthest, math.Abs(w-f.weight[i]))
			f.weight[i] = w
		}
		if farthest < fitSlip {
			return
		}
	}
}
