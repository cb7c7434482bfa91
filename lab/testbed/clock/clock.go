// Package clock turns times of a trace into real ones, and cuts histories.
package clock

import (
	"context"
	"fmt"
	"time"

	"godwit/trace"
)

// Cut copies what a history says of the times from from to to.
func Cut(h *trace.History, from, to time.Time) *trace.History {
	out := &trace.History{Host: h.Host}
	Note(out, from, trace.Unavailable, 0)
	for i := range h.Len() {
		s := h.Spell(i)
		if !s.End.After(from) || !s.Start.Before(to) {
			continue
		}
		if s.State == trace.Unobserved {
			s.State = trace.Unavailable
		}
		Note(out, Later(s.Start, from), s.State, s.CPU)
		if s.End.Before(to) && i == h.Len()-1 {
			Note(out, s.End, trace.Unavailable, 0)
		}
	}
	out.Extend(to)
	return out
}

// Note appends a change that is known to be in order.
func Note(h *trace.History, at time.Time, s trace.State, cpu float64) {
	if err := h.Append(at, s, cpu); err != nil {
		panic(fmt.Sprintf("a history out of order: %v", err))
	}
}

// Later returns the later of two times.
func Later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// TimeIn adds up how long a history was in a state.
func TimeIn(h *trace.History, state trace.State) (sum time.Duration) {
	for i := range h.Len() {
		if s := h.Spell(i); s.State == state {
			sum += s.Length()
		}
	}
	return sum
}

// A Clock turns times of the trace into real ones and back.
type Clock struct {
	Start   time.Time // of the window, in the trace
	Begun   time.Time // the same moment in reality
	Speedup float64
}

// Real is when a time of the trace is in reality.
func (c Clock) Real(at time.Time) time.Time {
	return c.Begun.Add(time.Duration(float64(at.Sub(c.Start)) / c.Speedup))
}

// Traced is the time of the trace that a real one is.
func (c Clock) Traced(at time.Time) time.Time {
	return c.Start.Add(time.Duration(float64(at.Sub(c.Begun)) * c.Speedup))
}

// History is a history at the pace of reality.
func (c Clock) History(h *trace.History) *trace.History {
	out := &trace.History{Host: h.Host}
	for i := range h.Len() {
		s := h.Spell(i)
		Note(out, c.Real(s.Start), s.State, s.CPU)
	}
	out.Extend(c.Real(h.Until()))
	return out
}

// SleepUntil waits for a time; false if ctx ended first.
func SleepUntil(ctx context.Context, at time.Time) bool {
	t := time.NewTimer(time.Until(at))
	defer t.Stop()
	select {
	case <-t.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
