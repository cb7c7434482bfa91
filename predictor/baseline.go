package predictor

import (
	"math"
	"time"

	"godwit/trace"
)

// age is the longest-uptime rule as a score: 1 - e^-(age/day), whatever the
// horizon. It ranks hosts; it is not a probability of anything.
type age struct{ spell spell }

func (a *age) Observe(at time.Time, s trace.State) {
	a.spell.turn(millis(at), s == trace.Available, false)
}

func (a *age) Blind(at time.Time) { a.spell.turn(millis(at), false, true) }

func (a *age) Stay(now time.Time, d time.Duration) (float64, bool) {
	at := millis(now)
	if d <= 0 {
		return 1, a.spell.seen(at)
	}
	if !a.spell.up {
		return 0, a.spell.seen(at)
	}
	return -math.Expm1(-hours(a.spell.age(at)) / 24), a.spell.seen(at)
}

// exponential takes the host's sessions to end at an even rate: exits over hours
// there, the running session and those lost from sight counted in full.
type exponential struct {
	spell spell
	exits float64
	there float64 // hours, of sessions that are over
}

func (e *exponential) change(at int64, up, blind bool) {
	before, ended := e.spell.turn(at, up, blind)
	if !ended || !before.up {
		return
	}
	e.there += hours(e.spell.since - before.since)
	if !blind {
		e.exits++
	}
}

func (e *exponential) Observe(at time.Time, s trace.State) {
	e.change(millis(at), s == trace.Available, false)
}

func (e *exponential) Blind(at time.Time) { e.change(millis(at), false, true) }

func (e *exponential) Stay(now time.Time, d time.Duration) (float64, bool) {
	at := millis(now)
	there := e.there
	if e.spell.up {
		there += hours(e.spell.age(at))
	}
	// One exit in a day is the opinion without data, with a day's weight.
	rate := (e.exits + 1) / (there + 24)
	return math.Exp(-rate * hours(max(0, d.Milliseconds()))), e.spell.seen(at)
}

// share is the share of time that the host was there, fading over two weeks,
// whatever the horizon.
type share struct {
	spell       spell
	up, watched float64 // hours, fading
}

const shareSpan = 14 * 24 // hours

func (s *share) pass(up, watched float64, length float64, was spell) (float64, float64) {
	fade := math.Exp(-length / shareSpan)
	gain := shareSpan * (1 - fade)
	if was.blind {
		return up, watched
	}
	up, watched = up*fade, watched*fade+gain
	if was.up {
		up += gain
	}
	return up, watched
}

func (s *share) change(at int64, up, blind bool) {
	before, ended := s.spell.turn(at, up, blind)
	if ended {
		s.up, s.watched = s.pass(s.up, s.watched, hours(s.spell.since-before.since), before)
	}
}

func (s *share) Observe(at time.Time, st trace.State) {
	s.change(millis(at), st == trace.Available, false)
}

func (s *share) Blind(at time.Time) { s.change(millis(at), false, true) }

func (s *share) Stay(now time.Time, d time.Duration) (float64, bool) {
	at := millis(now)
	if d <= 0 {
		return 1, s.spell.seen(at)
	}
	up, watched := s.up, s.watched
	if s.spell.begun {
		up, watched = s.pass(up, watched, hours(s.spell.age(at)), s.spell)
	}
	return (up + 1) / (watched + 2), s.spell.seen(at)
}
