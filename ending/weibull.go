package ending

import (
	"math"
	"math/rand/v2"
)

// A weibull is a law with survival e^-(x/scale)^shape: the exponential law at shape 1, all
// but equal lengths at a large one.
type weibull struct{ scale, shape float64 }

// leastShape and mostShape bound a fitted law: tasks that seem equal are not quite, and a
// few tell little of very long ones.
const leastShape, mostShape = 0.5, 50

// fitted is the law of most likelihood of tasks with weights, of which those that run are
// known to be longer than what they have done (Lawless 2003, equation 5.2.9). At least one
// has ended.
func fitted(tasks []seen, weights []float64) weibull {
	most := leastWork
	for _, t := range tasks {
		most = max(most, t.work)
	}
	ended, logs := 0.0, 0.0
	for i, t := range tasks {
		if t.ended {
			ended += weights[i]
			logs += weights[i] * math.Log(max(t.work, leastWork)/most)
		}
	}
	// The slope of the likelihood falls with the shape.
	sums := func(shape float64) (sum, logged float64) {
		for i, t := range tasks {
			l := math.Log(max(t.work, leastWork) / most)
			p := weights[i] * math.Exp(shape*l)
			sum, logged = sum+p, logged+p*l
		}
		return sum, logged
	}
	const rounds = 12
	low, high := leastShape, float64(mostShape)
	for range rounds {
		mid := math.Sqrt(low * high)
		if sum, logged := sums(mid); 1/mid+logs/ended > logged/sum {
			low = mid
		} else {
			high = mid
		}
	}
	w := weibull{shape: math.Sqrt(low * high)}
	sum, _ := sums(w.shape)
	w.scale = most * math.Pow(sum/ended, 1/w.shape)
	return w
}

// above draws what is longer than a length.
func (l weibull) above(than float64, rng *rand.Rand) float64 { return l.after(than, rng.ExpFloat64()) }

// after is what is longer than a length by so much of the cumulative hazard.
func (l weibull) after(than, hazard float64) float64 {
	had := math.Pow(than/l.scale, l.shape)
	if math.IsInf(had, 1) {
		return than // it ends at once
	}
	return max(than, l.scale*math.Pow(had+hazard, 1/l.shape))
}

// beyond is the mean, and the mean square, of what is longer than a length.
func (l weibull) beyond(than float64) (mean, square float64) {
	const points = 32
	for i := range points {
		x := l.after(than, -math.Log((float64(i)+.5)/points))
		mean, square = mean+x/points, square+x*x/points
	}
	return mean, square
}

// A seen task is one that ended, or runs and has lasted at least so long.
type seen struct {
	work  float64 // seconds on the reference core
	ended bool
}

// leastWork is in seconds: no task takes none.
const leastWork = 1e-3
