package clock

import (
	"math"
	"time"

	"godwit/trace"
)

const day = 24 * time.Hour

// Past is a history that ends at the clock's start, in reality. Days stay days, so that forecasts by time of day work. In
// each day the hours of the replay, which takes window of the trace's time, are as compressed as the replay itself, and
// the other hours fill the rest. The window takes less than a day, unless the speedup is 1.
func (c Clock) Past(h *trace.History, window time.Duration) *trace.History {
	out := &trace.History{Host: h.Host}
	for i := range h.Len() {
		s := h.Spell(i)
		Note(out, c.before(s.Start, window), s.State, s.CPU)
	}
	out.Extend(c.before(h.Until(), window))
	return out
}

// before is the real time of a time before the start.
func (c Clock) before(at time.Time, window time.Duration) time.Time {
	days := time.Duration(math.Ceil(float64(c.Start.Sub(at)) / float64(day)))
	begin := c.Begun.Add(-days * day)
	into := at.Sub(c.Start.Add(-days * day))
	if c.Speedup == 1 {
		return begin.Add(into)
	}
	played := time.Duration(float64(window) / c.Speedup)
	if into < window {
		return begin.Add(time.Duration(float64(into) / c.Speedup))
	}
	return begin.Add(played + time.Duration(float64(into-window)*float64(day-played)/float64(day-window)))
}
