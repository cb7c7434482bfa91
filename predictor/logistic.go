package predictor

import (
	"math"
	"time"

	"godwit/trace"
)

// logistic is a logistic regression on nine features, which each host learns
// from its own past alone: the log-odds of the default's six experts, the
// logarithms of age and horizon, and how much of late the host was there. It has
// no shared weights and no record of its own: good where the history is long
// (docs/spec/predictors.md section 3.2), poor where it is short.
type logistic struct {
	*Recorder
	rate    float64
	weights [features + 1]float64 // and the bias
	asked   int
	askAt   int64
	pending [mostPending]logisticQuestion
}

const features = experts + 3

// Features beyond the experts, and what may be learnt of them: only a weight
// that is not positive keeps the answer from rising with the horizon.
const (
	featureAge = experts + iota
	featurePresence
	featureHorizon
)

type logisticQuestion struct {
	until int64
	x     [features]float64
}

const (
	logisticRate = 0.02
	mostWeight   = 3.9
)

func logisticModel(ps *Params) func(*Pool) Predictor {
	rate := ps.Number("rate", logisticRate, math.SmallestNonzeroFloat64, math.MaxFloat64)
	return func(pool *Pool) Predictor {
		makePlain(pool)
		l := &logistic{Recorder: NewRecorder(pool), rate: rate}
		copy(l.weights[:], broadMix[:experts])
		return l
	}
}

func (l *logistic) Observe(at time.Time, s trace.State) {
	l.judge(millis(at), s == trace.Available)
	l.Recorder.Observe(at, s)
}

func (l *logistic) Blind(at time.Time) {
	l.judge(millis(at), true)
	for i := range l.pending {
		l.pending[i].until = 0
	}
	l.Recorder.Blind(at)
}

func (l *logistic) Tick(now time.Time) {
	at := millis(now)
	l.judge(at, true)
	l.Recorder.Tick(now)
	if !l.spell.up || at < l.askAt {
		return
	}
	l.askAt = at + askEvery
	d := horizons[l.asked%len(horizons)]
	l.asked++
	for i := range l.pending {
		if q := &l.pending[i]; q.until == 0 {
			q.until = at + d
			l.ask(&q.x, at, d)
			return
		}
	}
}

// judge learns from the questions whose answer is known at a time: those that
// were reached, and all others if the host leaves now.
func (l *logistic) judge(at int64, stays bool) {
	for i := range l.pending {
		q := &l.pending[i]
		switch {
		case q.until == 0:
		case q.until <= at:
			l.learn(&q.x, 1)
			q.until = 0
		case !stays:
			l.learn(&q.x, 0)
			q.until = 0
		}
	}
}

func (l *logistic) learn(x *[features]float64, y float64) {
	off := l.rate * (y - l.answer(x))
	for i, v := range x {
		w := max(-mostWeight, min(mostWeight, l.weights[i]+off*v))
		switch {
		case i < experts:
			w = max(0, w)
		case i == featureHorizon:
			w = min(0, w)
		}
		l.weights[i] = w
	}
	l.weights[features] += off
}

func (l *logistic) ask(x *[features]float64, now, d int64) {
	n := l.Reader()
	var odds [experts]float64
	n.ask(&odds, now, d)
	copy(x[:], odds[:])
	x[featureAge] = math.Log1p(hours(l.spell.age(now)))
	x[featurePresence] = n.there[recents-1] / memory[recents-1]
	x[featureHorizon] = math.Log1p(hours(d))
}

func (l *logistic) answer(x *[features]float64) float64 {
	z := l.weights[features]
	for i, v := range x {
		z += l.weights[i] * v
	}
	return odds(z)
}

func (l *logistic) Stay(now time.Time, d time.Duration) (float64, bool) {
	at := millis(now)
	known := l.Reader().knownAt(at)
	if d <= 0 {
		return 1, known
	}
	var x [features]float64
	l.ask(&x, at, d.Milliseconds())
	return l.answer(&x), known
}
