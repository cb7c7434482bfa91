package predictor

import "math"

// A final correction has what a lesson says come true as often as it says: a curve over
// log-odds, rising, with a slope of its own between any two knots. It remembers the last
// answers above all, as what was right when records were young no longer is when hosts are
// known for long.
//
// It is weighed against leaving things as they are, by the aggregating algorithm again: in
// all it loses at most ln(2)/2, .35 of the square loss, more than the better of the two.
// The curve competes with all others of such slopes, see fit.
type final struct {
	curve  fit
	lost   [2]float64 // uncorrected, corrected, less the least
	weight [2]float64
}

const (
	// finalMemory is how many answers the curve remembers: days of hundreds of hosts.
	finalMemory = 4000
	// finalFirm holds on to slopes of one, finalShift to a shift of nothing, as curvatures: a pool
	// with little to go by leaves things nearly as they are.
	finalFirm, finalShift = 10.0, 50.0
)

// finalTerms are the slopes and the shift.
const finalTerms = slopes + 1

func newFinal() (f final) {
	f.curve.n, f.curve.memory = finalTerms, finalMemory
	for i := range slopes {
		f.curve.bound(i, leastSlope, mostSlope, 1, finalFirm)
	}
	f.curve.bound(slopes, -mostShift, mostShift, 0, finalShift)
	f.weigh()
	return f
}

// even are the terms of log-odds of 0, from where slopes are counted, so that the
// shift is that of an even chance.
var even = func() (x [terms]float64) {
	bend(0, &x)
	return x
}()

// corrected is what the curve makes of a probability, and its terms.
func (f *final) corrected(p float64, x *[terms]float64) float64 {
	bend(math.Log(p/(1-p)), x)
	for i := range slopes {
		x[i] -= even[i]
	}
	return odds(f.curve.odds(x))
}

// answer is the forecast, of what the parts came to. It rises with p.
func (f *final) answer(p float64) float64 {
	if f.weight[1] == 0 {
		return p
	}
	var x [terms]float64
	both := [...]float64{p, f.corrected(p, &x)}
	if f.weight[0] == 0 {
		return both[1]
	}
	return substitute(f.weight[:], both[:])
}

// learn counts what came true, 1 or 0, of what the parts came to.
func (f *final) learn(p, y float64) {
	var x [terms]float64
	q := f.corrected(p, &x)
	f.lost[0] += (p - y) * (p - y)
	f.lost[1] += (q - y) * (q - y)
	f.curve.learn(&x, y)
}

// settle finds the curve and the weights anew.
func (f *final) settle() {
	f.curve.solve()
	f.weigh()
}

func (f *final) weigh() {
	least := min(f.lost[0], f.lost[1])
	sum := 0.0
	for i := range f.lost {
		f.lost[i] -= least
		f.weight[i] = math.Exp(-mixRate * f.lost[i])
		sum += f.weight[i]
	}
	for i := range f.weight {
		if f.weight[i] /= sum; f.weight[i] < noWeight {
			f.weight[i] = 0
		}
	}
}
