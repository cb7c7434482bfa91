package predictor

import "math"

// An Answer is a question that was put to a host's record, with what came true. It is
// given to Pool.Learn. The zero Answer says that a host of nothing left.
type Answer struct {
	class  uint8
	stayed bool
	said   said
}

// What a pool chooses from for each class of horizons: each expert and opinion alone, each
// host's own mixture of opinions, a regression on them all, and the same set right by what
// came true.
const (
	partHour = opinions + iota
	partDays
	partFast
	partSlow
	partPooled
	partUsual
	partMixed
	partJoint
	partRight
	parts
)

// Weights of the parts before anything is learnt, of sum 1.
var partWeights = func() (w [parts]float64) {
	for i := range partMixed {
		w[i] = .2 / partMixed
	}
	w[partMixed], w[partJoint], w[partRight] = .4, .2, .2
	return w
}()

// A lesson is what a pool learnt of one class of horizons by what came true of all hosts.
//
// Its parts are weighed as a host's opinions are, by the aggregating algorithm for the
// square loss (see mixRate): after any answers, however hosts behave, the pool's forecasts
// have lost at most
//
//	L_i + (1/2) ln(1/weight_i)
//
// for every part i, with weight_i of partWeights: at most 2.2 of the square loss more than
// the best single expert, .5 more than the hosts' own mixtures, over all answers together, and 1.39 more for the
// final correction. So neither the regression nor its corrections can cost more than that. What comes while
// others are open costs it once for each that can be open, as there. Nothing is forgotten:
// with leads kept within a bound, what hosts did in the last days was believed too much.
// The regression itself competes with all weights within its bounds, with
// a regret that grows with the logarithm of the number of answers (Hazan, Agarwal, Kale
// 2007, of a step that is exact; here it is a diagonal search to fitSlip).
type lesson struct {
	joint  fit
	right  fit
	bent   heights // of right
	final  final
	lost   [parts]float64 // less the least
	weight [parts]float64
	single bool // some weight is on an opinion alone
	seen   int  // answers since the weights were found
}

const (
	// DefaultFirm is how hard a pool holds on to its first weights, see LearnFirmly.
	DefaultFirm = 30.0
	// rightFirm is the same of the correction, whose terms are few.
	rightFirm = 30.0
	// solveEvery is after how many answers weights are found anew.
	solveEvery = 32
	// A weight of the regression is at most this; of the correction, a slope at least and at most.
	mostJoint             = 4.0
	leastSlope, mostSlope = .05, 5.0
	// The correction's shift has room for any, and is held on to by nothing to speak of.
	mostShift, shiftFirm = 20.0, .1
)

// knots are the log-odds between which the correction has a slope of its own.
var knots = [...]float64{-7, -3, -1.5, -.5, .5, 1.5, 3, 4.5, 5.7, 9}

const slopes = len(knots) - 1

func newLesson(firm float64) (l lesson) {
	l.joint.n, l.joint.memory = terms, fitMemory
	for i := range terms {
		least := 0.0
		if i >= sayAge {
			least = -mostJoint
		}
		l.joint.bound(i, least, mostJoint, 0, firm)
	}
	l.joint.bound(sayMixed, 0, mostJoint, 1, firm)
	l.joint.bound(sayLean, 0, mostLean, firstLean, firm)
	l.right.n, l.right.memory = slopes+1, fitMemory
	for i := range slopes {
		l.right.bound(i, leastSlope, mostSlope, 1, rightFirm)
	}
	l.right.bound(slopes, -mostShift, mostShift, knots[0], shiftFirm)
	l.final = newFinal()
	l.weigh()
	return l
}

// bend is log-odds as terms of the correction: how much of each slope lies below them.
func bend(z float64, x *[terms]float64) {
	z = max(z, knots[0])
	for i := range slopes {
		x[i] = max(0, min(z, knots[i+1])-knots[i])
	}
	x[slopes] = 1
}

// heights are what a correction comes to at each knot: between two it is straight.
type heights [slopes + 1]float64

// of finds the heights of a fit, of which the first is known.
func (h *heights) of(f *fit, first float64) {
	h[0] = first
	for i := range slopes {
		h[i+1] = h[i] + f.weight[i]*(knots[i+1]-knots[i])
	}
}

// at is what the correction makes of log-odds.
func (h *heights) at(z float64) float64 {
	if z <= knots[0] {
		return h[0]
	}
	for i := range slopes {
		if from, to := knots[i], knots[i+1]; z < to {
			return h[i] + (h[i+1]-h[i])/(to-from)*(z-from)
		}
	}
	return h[slopes]
}

// parts asks the parts that have a weight, or all of them.
func (l *lesson) parts(p *[parts]float64, s *said, all bool) {
	var x [terms]float64
	s.fill(&x)
	if all || l.single {
		e, o := [experts]float64(x[:experts]), [opinions]float64{}
		opine(&o, &e, odds(x[sayEven]), -x[sayCliff])
		copy(p[:], o[:])
	}
	for i, at := range heard {
		if i += opinions; all || l.weight[i] > 0 {
			p[i] = odds(x[at])
		}
	}
	if all || l.weight[partJoint]+l.weight[partRight] > 0 {
		z := l.joint.odds(&x)
		p[partJoint], p[partRight] = odds(z), odds(l.bent.at(z))
	}
}

// heard are where a said has the log-odds of the parts from partHour to partMixed.
var heard = [...]int{expertHour, expertDays, expertFast, expertSlow, expertPooled, sayUsual, sayMixed}

// answer is the forecast.
func (l *lesson) answer(s *said) float64 {
	var p [parts]float64
	l.parts(&p, s, false)
	return l.final.answer(substitute(l.weight[:], p[:]))
}

// learn counts an answer.
func (l *lesson) learn(a *Answer) {
	y := 0.0
	if a.stayed {
		y = 1
	}
	var p [parts]float64
	l.parts(&p, &a.said, true)
	l.final.learn(substitute(l.weight[:], p[:]), y)
	for i, said := range p {
		l.lost[i] += (said - y) * (said - y)
	}
	var x [terms]float64
	a.said.fill(&x)
	z := l.joint.odds(&x)
	l.joint.learn(&x, y)
	clear(x[:])
	bend(z, &x)
	l.right.learn(&x, y)
	if l.seen++; l.seen >= solveEvery {
		l.settle()
	}
}

// settle finds weights anew.
func (l *lesson) settle() {
	if l.seen == 0 {
		return
	}
	l.seen = 0
	l.joint.solve()
	l.right.solve()
	l.final.settle()
	l.weigh()
}

// weigh makes weights of what was lost, and heights of the correction's.
func (l *lesson) weigh() {
	l.bent.of(&l.right, l.right.weight[slopes])
	least := math.Inf(1)
	for _, lost := range l.lost {
		least = min(least, lost)
	}
	sum := 0.0
	for i := range l.lost {
		l.lost[i] -= least
		l.weight[i] = partWeights[i] * math.Exp(-mixRate*l.lost[i])
		sum += l.weight[i]
	}
	l.single = false
	for i := range l.weight {
		if l.weight[i] /= sum; l.weight[i] < noWeight {
			l.weight[i] = 0
		}
		l.single = l.single || i < opinions && l.weight[i] > 0
	}
}

// lessons are one for each class of horizons.
type lessons [classes]lesson

// LearnFirmly has a pool hold on to its first weights as if it had seen so many answers
// that were no surer than even, times four; DefaultFirm where it is not called. It forgets
// what was learnt.
func (p *Pool) LearnFirmly(firm float64) {
	p.firm, p.lessons = firm, nil
}

// Learn counts what came true of hosts, in the order that is given: by it the pool learns,
// for each class of horizons, what to make of all that experts and opinions say. Readers
// made before are stale, as after Renew, which keeps what was learnt. Before the first
// answer a reader says what the host's own mixture of opinions does.
func (p *Pool) Learn(answers []Answer) {
	if len(answers) == 0 {
		return
	}
	if p.lessons == nil {
		p.lessons = p.unlearnt()
	}
	for i := range answers {
		p.lessons[answers[i].class].learn(&answers[i])
	}
	for c := range p.lessons {
		p.lessons[c].settle()
	}
}
