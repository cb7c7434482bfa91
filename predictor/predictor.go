package predictor

import (
	"time"

	"godwit/trace"
)

// A Predictor follows one host. It is for one goroutine at a time.
//
// Only trace.Available counts as available (Zhang's Job Execution Availability,
// section 4.2.2): a change to any other state ends a stay.
type Predictor interface {
	// Observe tells that the host has been in a state since at. Calls come in
	// the order of time. What follows a change is not known until the next one:
	// the running spell is censored at whatever time is asked about.
	Observe(at time.Time, s trace.State)

	// Stay is the probability that the host, available at now, stays available
	// without a break for d. It is 1 at d = 0 and does not increase with d,
	// except where a predictor says that its published form does not keep this.
	// known is false when the answer rests on nothing seen of this host, such as
	// before its first day; then p is what the predictor holds of hosts at large.
	Stay(now time.Time, d time.Duration) (p float64, known bool)
}

// A Blinder is a Predictor that can be told of times when nobody looked.
type Blinder interface {
	Predictor

	// Blind tells that nothing is seen of the host from at until the next
	// Observe. The spell that ran at at is censored there: how much longer it
	// was is not known.
	Blind(at time.Time)
}

// Blind tells p that observation stopped at a time. A predictor that is no
// Blinder is told that the host left.
func Blind(p Predictor, at time.Time) {
	if b, ok := p.(Blinder); ok {
		b.Blind(at)
		return
	}
	p.Observe(at, trace.Unavailable)
}

// The time unit inside the package is the millisecond since 1970, as in
// trace.History; hours are UTC hours, so that a reader needs no time zone.
const (
	msPerMinute = 60_000
	msPerHour   = 60 * msPerMinute
	msPerDay    = 24 * msPerHour
)

// hours is a length in hours of a length in milliseconds.
func hours(ms int64) float64 { return float64(ms) / msPerHour }

// A spell is the one that runs: what every predictor must keep.
type spell struct {
	begun bool // anything was seen
	up    bool // available since since
	blind bool // nothing is seen since since
	first int64
	since int64
}

// turn moves to the state that holds from at on. It returns the spell before,
// and whether that ended here: two states that are not available are one spell.
// A change that comes late is taken to be of the spell's start.
func (s *spell) turn(at int64, up, blind bool) (before spell, ended bool) {
	before = *s
	if !s.begun {
		*s = spell{begun: true, up: up, blind: blind, first: at, since: at}
		return before, false
	}
	if s.up == up && s.blind == blind {
		return before, false
	}
	s.up, s.blind, s.since = up, blind, max(at, s.since)
	return before, true
}

// age is how long the running spell has lasted.
func (s *spell) age(now int64) int64 { return max(0, now-s.since) }

// aDay is how much must be seen of a host before an answer is about it.
const aDay = msPerDay

// seen says whether enough of the host has been observed by now.
func (s *spell) seen(now int64) bool { return s.begun && now-s.first >= aDay }
