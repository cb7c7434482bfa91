package ending

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

const (
	// fewEnded is how many ended tasks outweigh what the owner guessed.
	fewEnded = 5
	// fewLeft and one in fewPart of all is how many of the longest tasks are left to a fitted
	// law.
	fewLeft, fewPart = 3, 20
	// declaredSpread is the standard deviation of the logarithm of what tasks take over
	// what their owners guess, where nobody has seen one end. No measure of it is
	// published of volunteer computing: a quarter is the model's own.
	declaredSpread = 0.25
	// guessedMiddle is what a task is taken for, in seconds, of which nobody knows, in
	// the middle, and guessedSpread the standard deviation of its logarithm: two in three
	// lie between 6 minutes and 10 hours, as in the logs of grids.
	guessedMiddle = 3600
	guessedSpread = 2.3
	// mostSpread bounds how far tasks of one job lie apart, as the standard deviation of
	// the logarithm: from equal tasks to tasks further apart than an exponential law's, all
	// are thought as likely before one has ended.
	mostSpread = 1.2
	lawPoints  = 32
)

// known is what is known of a job.
type known struct {
	job     *Job
	ended   []float64
	seen    []seen // in the order of work; the ended of equals first
	guessed bool   // nobody knows
}

// know sums up a job.
func know(j *Job, s *Swarm) *known {
	k := &known{job: j}
	step := max(1, (len(j.Ended)+MaxSamples-1)/MaxSamples)
	for i := 0; i < len(j.Ended); i += step {
		k.ended = append(k.ended, max(leastWork, j.Ended[i].Seconds()))
	}
	for _, w := range k.ended {
		k.seen = append(k.seen, seen{w, true})
	}
	for i := 0; i < min(len(j.Running), MaxRunning); i += step { // the same part of them
		k.seen = append(k.seen, seen{j.Running[i].Work.Seconds(), false})
	}
	if n := len(j.Ended); n > 0 && n < fewEnded && j.Declared > 0 {
		for range fewEnded - n {
			k.seen = append(k.seen, seen{max(leastWork, j.Declared.Seconds()), true})
		}
	}
	slices.SortStableFunc(k.seen, func(a, b seen) int {
		if c := cmp.Compare(a.work, b.work); c != 0 {
			return c
		}
		return cmp.Compare(rankEnded(b), rankEnded(a))
	})
	k.guessed = len(j.Ended) == 0 && j.Declared == 0
	return k
}

func rankEnded(s seen) int {
	if s.ended {
		return 1
	}
	return 0
}

// A workLaw is what tasks of a job take in one draw: some lengths with their
// probabilities, and beyond the last of them the tail of a fitted law.
type workLaw struct {
	at   []float64 // ascending
	upTo []float64 // probability of at most at[i]
	last float64   // where the tail begins
	fit  weibull   // the law of the tail, and of what is longer than all that is known
	blur float64   // standard deviation of the logarithm of what a length is drawn about
	m, v float64   // mean and variance
}

// law draws how long the job's tasks take.
func (k *known) law(rng *rand.Rand) *workLaw {
	switch {
	case k.guessed:
		return k.guess(rng)
	case len(k.ended) == 0:
		return k.declared(rng)
	}
	w := &workLaw{}
	alive, survival := 0.0, 1.0
	weights := make([]float64, len(k.seen))
	for i := range weights {
		weights[i] = rng.ExpFloat64()
		alive += weights[i]
	}
	w.fit = fitted(k.seen, weights)
	// Nobody knows whether tasks longer than all that ended are to come: in half of the draws
	// there are, as a fitted law has them, and else the longest that ended are the longest.
	long := rng.IntN(2) == 0
	upTo := len(k.seen)
	if long {
		upTo = max(1, upTo-fewLeft-upTo/fewPart) // each of the last has too much of a say
	}
	for i, s := range k.seen[:upTo] {
		if s.ended {
			survival *= 1 - weights[i]/alive
			w.at, w.upTo = append(w.at, s.work), append(w.upTo, 1-survival)
		}
		alive = max(alive-weights[i], math.SmallestNonzeroFloat64)
		w.last = s.work
	}
	if !long && survival < 1 && k.seen[upTo-1].ended {
		w.upTo[len(w.upTo)-1] = 1
	}
	w.moments()
	// Of few tasks the longest to come is longer than the longest seen: a smoothed bootstrap
	// (Silverman 1986, section 6.4), with half of his width for the normal law.
	if long {
		w.blur = silverman / 2 * math.Sqrt(math.Log1p(w.v/(w.m*w.m))) * math.Pow(float64(len(w.at)), -0.2)
	}
	return w
}

// silverman is the width of a normal kernel by the spread of the sample (Silverman 1986,
// equation 3.28).
const silverman = 1.06

// declared is the law of a job of which its owner's guess is all that is known: a
// lognormal law of about that mean, of a spread that is drawn too.
func (k *known) declared(rng *rand.Rand) *workLaw {
	mean := k.job.Declared.Seconds() * math.Exp(declaredSpread*rng.NormFloat64())
	spread := mostSpread * rng.Float64()
	w := &workLaw{}
	for i := range lawPoints {
		p := (float64(i) + .5) / lawPoints
		z := math.Sqrt2 * math.Erfinv(2*p-1)
		w.at = append(w.at, max(leastWork, mean*math.Exp(spread*z-spread*spread/2)))
		w.upTo = append(w.upTo, float64(i+1)/lawPoints)
	}
	w.fit = weibull{mean, min(mostShape, 1/max(spread, 1/mostShape))}
	w.moments()
	return w
}

// guess is the law of a job of which nobody knows: all tasks take the same, drawn once,
// but no less than those that run have lasted.
func (k *known) guess(rng *rand.Rand) *workLaw {
	least := 0.0
	for _, s := range k.seen {
		least = max(least, s.work)
	}
	at := 0.0
	const tries = 32
	for range tries {
		if at = guessedMiddle * math.Exp(guessedSpread*rng.NormFloat64()); at > least {
			break
		}
	}
	w := &workLaw{at: []float64{max(at, least+leastWork)}, upTo: []float64{1}}
	w.fit = weibull{w.at[0], leastShape}
	w.moments()
	return w
}

// moments fills in mean and variance.
func (w *workLaw) moments() {
	was, square := 0.0, 0.0
	for i, at := range w.at {
		p := w.upTo[i] - was
		w.m += p * at
		square += p * at * at
		was = w.upTo[i]
	}
	if was < 1 {
		m, m2 := w.fit.beyond(w.last)
		w.m += (1 - was) * m
		square += (1 - was) * m2
	}
	w.v = max(0, square-w.m*w.m)
}

func (w *workLaw) mean() float64 { return w.m }

// draw is the work of a task, in seconds on the reference core.
func (w *workLaw) draw(rng *rand.Rand) float64 { return w.from(0, rng) }

// from is the work of a task beyond a probability.
func (w *workLaw) from(p float64, rng *rand.Rand) float64 {
	i, _ := slices.BinarySearch(w.upTo, p+(1-p)*rng.Float64())
	if i == len(w.at) {
		return w.fit.above(max(w.last, leastWork), rng)
	}
	if w.blur == 0 {
		return w.at[i]
	}
	return w.at[i] * math.Exp(w.blur*rng.NormFloat64()-w.blur*w.blur/2) // of the same mean
}

// longer is the work of a task that has had so much of it.
func (w *workLaw) longer(than float64, rng *rand.Rand) float64 {
	const tries = 8
	if w.blur > 0 {
		for range tries {
			if x := w.draw(rng); x > than {
				return x
			}
		}
	}
	i, _ := slices.BinarySearch(w.at, math.Nextafter(than, math.Inf(1)))
	below := 0.0
	if i > 0 {
		below = w.upTo[i-1]
	}
	if i == len(w.at) {
		return w.fit.above(max(than, leastWork), rng)
	}
	return max(than+leastWork, w.from(below, rng))
}

// group is the work of n tasks together: that of the normal law for many.
func (w *workLaw) group(n uint64, rng *rand.Rand) float64 {
	const few = 8
	if n <= few {
		sum := 0.0
		for range n {
			sum += w.draw(rng)
		}
		return sum
	}
	sum := float64(n)*w.m + math.Sqrt(float64(n)*w.v)*rng.NormFloat64()
	return max(sum, float64(n)*w.m/few)
}
