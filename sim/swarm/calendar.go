package swarm

import (
	"math"
	"math/rand/v2"
	"time"
)

// A day is what happened on one day of the trace.
type day struct {
	allocated, succeeded, failed uint64
	used, available              time.Duration // of slots
}

const aDay = 24 * time.Hour

// machines is a length of the trace's time by the machines' clocks, traced the
// other way round.
func (w *world) machines(d time.Duration) time.Duration {
	if w.opt.Speedup == 1 {
		return d
	}
	return time.Duration(math.Round(float64(d) / w.opt.Speedup))
}

func (w *world) traced(d time.Duration) time.Duration {
	if w.opt.Speedup == 1 {
		return d
	}
	return time.Duration(math.Round(float64(d) * w.opt.Speedup))
}

func (w *world) dayOf(at time.Duration) int { return int(w.traced(at) / aDay) }

// dayAt is the day that contains a time or, for an end, that ends with it.
func (w *world) dayAt(at time.Duration, contains bool) *day {
	if !contains {
		at = max(0, at-1)
	}
	i := min(w.dayOf(at), len(w.perDay)-1)
	return &w.perDay[i]
}

// days splits a time into those of days.
func (w *world) days(from, to time.Duration, book func(d *day, part time.Duration)) {
	to = min(to, w.span)
	for from < to {
		end := min(to, w.machines(time.Duration(w.dayOf(from)+1)*aDay))
		if end <= from { // rounding of a speedup
			end = min(to, from+1)
		}
		book(w.dayAt(from, true), end-from)
		from = end
	}
}

// counted is how much of a time is reported.
func (l *timeline) counted(from, to time.Duration) time.Duration {
	return max(0, min(to, l.span)-max(from, l.warm))
}

// seconds is a length of the machines' time in seconds of the trace's.
func (w *world) seconds(d time.Duration) float64 { return d.Seconds() * w.opt.Speedup }

// A timeline is when a run is, and what happens next.
type timeline struct {
	base       time.Time // the start
	span, warm time.Duration
	now        time.Duration
	clock      time.Time // base and now
	queue      queue
}

// draws are what is random in a run, a stream for each purpose.
type draws struct {
	net     *rand.Rand // delays and losses
	adverts *rand.Rand // times of adverts
	givers  *rand.Rand // who is given jobs
	cells   *rand.Rand // who is asked about cells
}
