package owner

import (
	"fmt"
	"math"
	"time"

	"godwit/owner/sensor"
	"godwit/trace"
)

const (
	// chargeMargin is how far above the least charge a battery must be before one
	// that was low is not low any more: Android's config_lowBatteryCloseWarningBump,
	// 5 points. A battery that is relieved of its load reads some points higher.
	chargeMargin = 0.05
	// chargeWindow is how much of a discharge the rate is measured over, or as much
	// as it takes to fall by chargeKept: in ten minutes a laptop that lasts for ten hours
	// does. What a machine does changes the rate within minutes.
	chargeWindow = 10 * time.Minute
	// chargeSpacing bounds the samples that are kept of a window to some twenty.
	chargeSpacing = chargeWindow / 20
	// chargeStep is the finest change that every gauge shows, a point, and
	// chargeStretch the least time between two samples that a rate is made of.
	chargeStep = 0.01
	// chargeKept is the fall that a window has at least, once there was as much: a gauge
	// that errs by a tenth of a point to both sides has the rate of one step wrong by a
	// fifth, so that estimates would go to and fro by more than chargeRevision.
	chargeKept    = 2 * chargeStep
	chargeStretch = time.Minute
	// chargeGrain is the least fall that is no noise, a tenth of that; it bounds the
	// samples too. rounding is what 0.42-0.41 may lack of a step.
	chargeGrain = 0.001
	rounding    = 1e-9
	// chargeFirm is how near the end stands firm: the most notice that a node gives
	// of an end, so that work which has left for it is not fetched back because
	// the battery lasts longer without it.
	chargeFirm = 10 * time.Minute
	// chargeRevision is the share of the time left by which an estimate must differ
	// from the one that stands. Each revision is told to all members.
	chargeRevision = 0.25
	// chargeFarthest is the longest time left that is told: no battery of a machine
	// that computes lasts for a day.
	chargeFarthest = 24 * time.Hour
)

// A sample is the charge at a moment when it had just changed.
type sample struct {
	at    time.Time // of the wall clock: a machine that sleeps stops the other one
	value float64   // from 0 to 1
}

// A gauge follows the battery while the machine runs on it: whether it is low,
// with hysteresis, and when it will be at the rate that was measured. Its zero
// value is a machine on mains.
type gauge struct {
	sensor string
	least  float64 // the share that low and end are of; above 0
	value  float64 // the least of this discharge; meaningful if known
	known  bool    // value was told

	// samples are of one discharge, the oldest first: times never decrease, values
	// do. The value before the first is left out: nobody saw when the battery had
	// come to it.
	samples []sample

	low bool
	at  float64 // the charge at which it was first low
	// end is when the charge is expected to be down to least; zero if that is not
	// known. It is only ever moved nearer once it stands firm.
	end time.Time
}

// take brings the gauge up to now. r is the battery that the machine runs on, nil
// on mains or where nobody can tell; woke is when the machine last woke from
// sleep, least the charge that must be left, 0 for none. A battery whose charge
// is not known is neither low nor expected to be: it stays what it was.
func (g *gauge) take(now time.Time, r *sensor.Reading, woke time.Time, least float64) {
	if r == nil || least <= 0 {
		*g = gauge{}
		return
	}
	if r.Sensor != g.sensor {
		*g = gauge{sensor: r.Sensor}
	}
	if least != g.least {
		g.least, g.low, g.end = least, false, time.Time{}
	}
	if !r.Gauged {
		g.known, g.samples, g.end = false, nil, time.Time{}
		return
	}
	g.follow(r.At.Round(0), r.Value, woke)
	switch {
	case r.Value <= least && !g.low:
		g.low, g.at = true, r.Value
	case r.Value > least && r.Value >= min(least+chargeMargin, 1):
		g.low = false
	}
	if g.low {
		g.end = time.Time{}
		return
	}
	g.expect(now)
}

// follow adds a sample if the charge has changed. One that rose by more than a
// gauge errs, a clock that was set back, and sleep begin a new stretch.
func (g *gauge) follow(at time.Time, value float64, woke time.Time) {
	last := len(g.samples) - 1
	before := last >= 0 && at.Before(g.samples[last].at)
	slept := last >= 0 && woke.After(g.samples[0].at)
	if !g.known || before || slept || value > g.value+chargeStep {
		g.known, g.value, g.samples = true, value, nil
		if !g.near() {
			g.end = time.Time{}
		}
		return
	}
	if value > g.value-chargeGrain+rounding {
		return
	}
	g.value = value
	if last >= 1 && at.Sub(g.samples[last-1].at) < chargeSpacing {
		g.samples = g.samples[:last]
	}
	g.samples = append(g.samples, sample{at, value})
	for len(g.samples) > 2 && at.Sub(g.samples[1].at) >= chargeWindow && g.samples[1].value-value >= chargeKept-rounding {
		g.samples = g.samples[1:]
	}
}

// near says whether the charge is within the margin of the least.
func (g *gauge) near() bool { return g.known && g.value < g.least+chargeMargin }

// estimate returns when the charge is down to least if it falls on as it did over
// the samples; false where they are too few, or it does not fall. Since a gauge
// tells of whole steps only, a silence means that it fell by less than one.
func (g *gauge) estimate(now time.Time) (time.Time, bool) {
	if len(g.samples) < 2 {
		return time.Time{}, false
	}
	first, last := g.samples[0], g.samples[len(g.samples)-1]
	drop, stretch := first.value-last.value, last.at.Sub(first.at)
	if drop < chargeStep-rounding || stretch < chargeStretch {
		return time.Time{}, false
	}
	rate := drop / stretch.Seconds()
	if passed := now.Sub(first.at); passed > 0 {
		rate = min(rate, (drop+chargeStep)/passed.Seconds())
	}
	left := (first.value - g.least) / rate
	if !(left <= (chargeFarthest + stretch).Seconds()) {
		return time.Time{}, false
	}
	return first.at.Add(time.Duration(left * float64(time.Second))).Truncate(time.Second), true
}

// expect settles end: an estimate that hardly differs changes nothing.
func (g *gauge) expect(now time.Time) {
	estimate, ok := g.estimate(now)
	left := g.end.Sub(now)
	differs := estimate.Sub(g.end).Abs() > time.Duration(chargeRevision*float64(left.Abs()))
	switch {
	case g.end.IsZero():
		g.end = estimate
	case g.near() && left <= chargeFirm:
		if ok && differs && estimate.Before(g.end) {
			g.end = estimate
		}
	case left <= 0, ok && differs:
		g.end = estimate
	}
}

// due says that the battery should be low by now, and no reading shows it yet.
func (g *gauge) due(now time.Time) bool {
	return !g.low && !g.end.IsZero() && !g.end.After(now) && g.near()
}

// battery returns the reading of the battery that the machine runs on; of several
// the emptiest that is gauged, nil for none.
func (s *situation) battery() (out *sensor.Reading) {
	for i := range s.readings {
		r := &s.readings[i]
		if r.Kind != sensor.Power || r.Blind != "" || !r.On {
			continue
		}
		if out == nil || r.Gauged && (!out.Gauged || r.Value < out.Value) {
			out = r
		}
	}
	return out
}

// woke is when the machine last woke from sleep; zero for never.
func (s *situation) woke() time.Time {
	if r := s.newest(sensor.Wake); r != nil {
		return r.Touched
	}
	return time.Time{}
}

// charge says that the battery is low, or should be by now. On mains it never
// does: then work does not take from the battery what its owner may need.
func (s *situation) charge(g *gauge) verdict {
	least := formatPercent(s.rules.MinBatteryCharge)
	v := verdict{rule: ruleCharge, sensor: g.sensor}
	switch {
	case g.low:
		v.holds, v.stop, v.state = true, true, trace.Unavailable
		v.reason = fmt.Sprintf("the battery was down to %s, and %s is to be left; work goes on at %s, or on mains",
			wholePercent(g.at), least, wholePercent(min(g.least+chargeMargin, 1)))
	case g.due(s.now):
		v.holds, v.state = true, trace.Leaving
		v.reason = fmt.Sprintf("the battery is about to fall to %s: nothing new is taken", least)
	}
	return v
}

// wholePercent writes a share to a person.
func wholePercent(share float64) string { return formatPercent(math.Round(share * 100)) }
