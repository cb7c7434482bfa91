package predictor

import "math"

// A lean is by how much a host stays more often than its opinions say, or less often, in
// log-odds: what tells it from all others when it has been weighed as they are. The host
// learns it from what came true of the questions that it puts to its own record for the
// pool: a logistic regression of one term, with a step of Newton's method for each answer.
// Its regret against the best lean grows with the logarithm of the number of answers (the
// online Newton step of Hazan, Agarwal and Kale 2007). What a lean is worth the pool
// learns: it is a term of the lessons' regression, so they lose no more by it than they
// would otherwise (see lesson). The zero lean is none.
type lean struct{ pull, bend float64 }

// Leans of a host: one for up to an hour, one for longer.
const (
	leanShort = iota
	leanLong
	leans
)

// leanOf is which lean tells of each class of horizons.
var leanOf = [classes]int{leanShort, leanShort, leanLong, leanLong, leanLong}

// leanCounts is what an answer of each class counts for: those of one session that are open at
// once nearly repeat each other, the more of them the longer the horizon.
var leanCounts = [classes]float64{.5, 1, .33, .25, .15}

const (
	// leanFirm is how hard none is held on to, as a curvature: 16 answers that were even.
	leanFirm = 4.0
	// A record has a lean in steps; with a quarter of the step forecasts were no better.
	leanStep  = .4
	leanSteps = 3
	leanBits  = 3
	leanMask  = 1<<leanBits - 1
	// A pool begins with half of what a host leans by, and makes at most all of it.
	firstLean, mostLean = .5, 1.0
)

// value is the lean in log-odds.
func (l *lean) value() float64 { return l.pull / (l.bend + leanFirm) }

// steps is the lean as a record has it.
func (l *lean) steps() int8 {
	return int8(max(-leanSteps, min(leanSteps, math.Round(l.value()/leanStep))))
}

// learn counts an answer, 1 or 0, to which the opinions gave some log-odds.
func (l *lean) learn(odd, y, counts float64) {
	v := l.value()
	p := odds(odd + v)
	bend := max(p*(1-p), leastCurvature)
	l.bend += counts * bend
	l.pull += counts * (bend*v + y - p)
}

// leaning is what the record leans by where a stay for an anchor is asked about.
func (n *Reader) leaning(d int64) float64 {
	c := 0
	for c < classes-1 && anchors[c] < d {
		c++
	}
	return n.lean[leanOf[c]]
}
