package predictor

import "math"

// Lengths of sessions are counted in octaves of minutes: bin 0 holds sessions
// below a minute, bin k those from 2^(k-1) to 2^k minutes, the last all from
// 2^16 minutes (45 days) on. Octaves suit lengths that spread over five orders
// of magnitude (docs/spec/predictors.md section 2.5: every fitted law is heavy-tailed).
const octaves = 18

// octave finds where a length lies: the bin, and how far into it on the scale of
// the logarithm, 0 to 1 (beyond 1 in the last bin, which has no end).
func octave(ms int64) (bin int, in float64) {
	minutes := float64(ms) / msPerMinute
	if minutes < 1 {
		return 0, max(0, minutes)
	}
	l := math.Log2(minutes)
	bin = min(int(l), octaves-2)
	return bin + 1, l - float64(bin)
}

// Lives counts how long sessions lasted: the ends in each octave, and the
// sessions lost from sight there, which lasted at least so long.
type Lives struct {
	Ends [octaves]float64
	Lost [octaves]float64
}

// entered counts the sessions that reached bin k and lets those that were lost
// within it count half (the actuarial estimate of a life table).
func (l *Lives) entered(above float64, k int) float64 { return above + l.Ends[k] + l.Lost[k]/2 }

// hazards estimates, per octave, the probability that a session which enters it
// ends in it: ends over entered, with weight sessions of the prior's opinion
// added. A nil prior is one with no opinion but its own.
func (l *Lives) hazards(prior *[octaves]float64, weight float64) (h [octaves]float64) {
	above := 0.0
	for k := octaves - 1; k >= 0; k-- {
		n := l.entered(above, k)
		h[k] = min((l.Ends[k]+weight*prior[k])/(n+weight), surestEnd)
		above += l.Ends[k] + l.Lost[k]
	}
	return h
}

// surestEnd bounds an octave's hazard, so that a survival never becomes 0 and a
// ratio of survivals is always one.
const surestEnd = 0.9999

// A curve is a survival curve as its logarithm at the start of each octave and
// the slope within: within an octave the hazard is even on the scale of the
// logarithm of age, as in a Pareto law, and so on beyond the last.
type curve struct {
	at    [octaves]float64 // ln S, 0 and falling
	slope [octaves]float64 // ln(1-h), at most 0
}

func newCurve(h *[octaves]float64) (c curve) {
	sum := 0.0
	for k := range octaves {
		c.at[k], c.slope[k] = sum, math.Log1p(-h[k])
		sum += c.slope[k]
	}
	return c
}

// log is the logarithm of the probability to last into an octave, so far.
func (c *curve) log(k int, in float64) float64 { return c.at[k] + c.slope[k]*in }
