package predictor

import (
	"math"
	"time"

	"godwit/trace"
)

// A Recording is a Predictor that keeps a record which feeds a pool.
type Recording interface {
	Predictor

	// Tick tells that nothing changed until now.
	Tick(now time.Time)

	// Record is the host's record as of the last call.
	Record() Record

	// Answers is what came true since the last call, for Pool.Learn.
	Answers() []Answer
}

// A Blend is the default predictor of one host: its Recorder, and the Reader of
// what it gossips, so that it answers exactly what any peer would.
type Blend struct{ *Recorder }

// NewBlend returns the default predictor of a host of which nothing is known.
func NewBlend(pool *Pool) Blend { return Blend{NewRecorder(pool)} }

// Stay answers from the record as of the last call of Observe, Blind or Tick.
func (b Blend) Stay(now time.Time, d time.Duration) (p float64, known bool) {
	return b.Reader().Stay(now, d)
}

// blendModel reads how hard the pool holds on to its first weights, in answers.
func blendModel(ps *Params) func(*Pool) Predictor {
	firm := ps.Number("firm", DefaultFirm, math.SmallestNonzeroFloat64, math.MaxFloat64)
	return func(p *Pool) Predictor {
		if p.lessons == nil {
			p.LearnFirmly(firm)
		}
		return NewBlend(p)
	}
}

// told answers by the opinions alone.
type told struct{ *Recorder }

func (t told) Stay(now time.Time, d time.Duration) (float64, bool) {
	n := t.Reader()
	return n.Told(now, d), n.knownAt(millis(now))
}

// A part answers with one of the default's experts alone.
type part struct {
	*Recorder
	expert int
}

func (p part) Stay(now time.Time, d time.Duration) (float64, bool) {
	n := p.Reader()
	if d <= 0 {
		return 1, n.knownAt(millis(now))
	}
	var x [experts]float64
	n.ask(&x, millis(now), d.Milliseconds())
	return odds(x[p.expert]), n.knownAt(millis(now))
}

// makePlain has a pool's readers take all departures alike.
func makePlain(pool *Pool) {
	pool.plain, pool.settled = true, false
	pool.settle()
}

// fixed is the blend of docs/spec/predictors.md section 3.2 that is not learnt: .4 of the
// sessions' curve, .4 of the hours', .2 of TDE over five days, kept off 0 and 1.
type fixed struct {
	*Recorder
	tde *TDE
}

func newFixed(pool *Pool) fixed {
	makePlain(pool)
	return fixed{NewRecorder(pool), NewTDE(TDEConfig{N: 5, Missing: MissingSkip})}
}

func (f fixed) Observe(at time.Time, s trace.State) {
	f.Recorder.Observe(at, s)
	f.tde.Observe(at, s)
}

func (f fixed) Blind(at time.Time) {
	f.Recorder.Blind(at)
	f.tde.Blind(at)
}

func (f fixed) Stay(now time.Time, d time.Duration) (float64, bool) {
	n := f.Reader()
	known := n.knownAt(millis(now))
	if d <= 0 {
		return 1, known
	}
	var x [experts]float64
	n.ask(&x, millis(now), d.Milliseconds())
	life, hour := odds(x[expertLife]), odds(x[expertHour])
	day, any := f.tde.Stay(now, d)
	if !any {
		day = (life + hour) / 2
	}
	return max(.02, min(.98, .4*life+.4*hour+.2*day)), known
}
