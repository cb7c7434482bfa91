package credibility

import (
	"math"
	"time"
)

const (
	// HalfLife is how long it takes until audited work counts half: a machine that was
	// right last year may have a fault by now (Nightingale et al. 2011: machines that fail
	// once fail again).
	HalfLife = 90 * 24 * time.Hour
	// MostRefusals is how often a worker may refuse to serve a state that it signed before
	// it begins at nothing.
	MostRefusals = 3
	// hearsay is how many tasks the praise of others counts at most, beyond doubling what
	// was seen.
	hearsay = 10
)

// A Credit is what a submitter knows of one worker. The zero Credit is of one that it never
// met.
type Credit struct {
	Known    float64   // tasks audited and right, as of At
	At       time.Time // zero while Known is 0
	Faults   int       // tasks of which an audit was wrong; one is enough
	Audits   int       // that were right, in part or whole, ever
	First    time.Time // when the first result of it was taken in; zero for never
	Refusals int       // states that it signed and did not serve, since it last began
}

// Right is how many tasks count as audited and right: halved with each HalfLife. now is
// not before At.
func (c *Credit) Right(now time.Time) float64 {
	if c.Known == 0 {
		return 0
	}
	return c.Known * math.Exp2(-float64(now.Sub(c.At))/float64(HalfLife))
}

// Confirm adds work that was audited and is right: m of n intervals of a task, n at least 1.
func (c *Credit) Confirm(m, n int, now time.Time) {
	if m <= 0 {
		return
	}
	c.Known = c.Right(now) + float64(min(m, n))/float64(n)
	c.At = now
	c.Audits++
}

// Refuse notes that the worker did not serve a state that it had signed. It reports whether
// the worker begins at nothing again.
func (c *Credit) Refuse() bool {
	if c.Refusals++; c.Refusals < MostRefusals {
		return false
	}
	c.Known, c.At, c.Refusals = 0, time.Time{}, 0
	return true
}

// Praise is what another submitter says that it found right, as far as its word counts.
type Praise struct {
	Weight float64 // 0 to 1: of its audits that were run again, those that were right
	Right  float64 // tasks
}

// With adds what others say to what one saw: at most as much again, and ten tasks.
func With(own float64, others []Praise) float64 {
	sum := 0.0
	for _, p := range others {
		if w := p.Weight * p.Right; w > 0 {
			sum += w
		}
	}
	return own + min(own+hearsay, sum)
}
