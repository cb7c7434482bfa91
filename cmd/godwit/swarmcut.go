package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"godwit/internal/failure"
	"godwit/trace"
)

// cutTrace returns the trace from a time on for a length, with no host's state
// unknown: where nobody looked a host was off. It keeps n hosts that are
// available at some time of it, drawn by the seed, in the trace's order.
func cutTrace(t *trace.Trace, n int, from time.Time, length time.Duration, seed uint64) (*trace.Trace, error) {
	to := from.Add(length)
	if from.Before(t.Start) || to.After(t.End) {
		return nil, failure.Usage("choose --from, --speedup and --minutes so that they fit",
			"%s from %s on is not within the trace, which goes from %s to %s", length, stamp(from), stamp(t.Start), stamp(t.End))
	}
	var all []int
	cuts := make([]*trace.History, len(t.Hosts))
	for i, h := range t.Hosts {
		cuts[i] = cutHistory(h.History, from, to)
		if timeIn(cuts[i], trace.Available) > 0 {
			all = append(all, i)
		}
	}
	if len(all) < n {
		return nil, failure.Usage("take fewer nodes, or another time with --from", "only %d hosts of the trace are ever available in %s from %s on", len(all), length, stamp(from))
	}
	rng := rand.New(rand.NewPCG(seed, uint64(len(all))))
	rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	out := *t
	out.Start, out.End, out.Window, out.Samples, out.Hosts = from, to, trace.Window{}, nil, nil
	for _, i := range slices.Sorted(slices.Values(all[:n])) {
		out.Hosts = append(out.Hosts, trace.Host{History: cuts[i], GHz: t.Hosts[i].GHz})
	}
	return &out, nil
}

// wholeTrace returns the trace from a time on for a length with all of its hosts,
// to which rates belong by their numbers.
func wholeTrace(t *trace.Trace, from time.Time, length time.Duration) (*trace.Trace, error) {
	if len(t.Hosts) > maxSwarm {
		return nil, failure.Usage("simulate it: `godwit sim`", "%d machines: at most %d run on this one", len(t.Hosts), maxSwarm)
	}
	out := *t
	out.Start, out.End, out.Window, out.Samples, out.Hosts = from, from.Add(length), trace.Window{}, nil, nil
	if from.Before(t.Start) || out.End.After(t.End) {
		return nil, failure.Usage("give the machines more days, or choose --from, --speedup and --minutes so that they fit",
			"%s from %s on is not within the machines' time, which goes from %s to %s", length, stamp(from), stamp(t.Start), stamp(t.End))
	}
	for _, h := range t.Hosts {
		out.Hosts = append(out.Hosts, trace.Host{History: cutHistory(h.History, from, out.End), GHz: h.GHz})
	}
	return &out, nil
}

// cutHistory copies what a history says of the times from from to to.
func cutHistory(h *trace.History, from, to time.Time) *trace.History {
	out := &trace.History{Host: h.Host}
	note(out, from, trace.Unavailable, 0)
	for i := range h.Len() {
		s := h.Spell(i)
		if !s.End.After(from) || !s.Start.Before(to) {
			continue
		}
		if s.State == trace.Unobserved {
			s.State = trace.Unavailable
		}
		note(out, later(s.Start, from), s.State, s.CPU)
		if s.End.Before(to) && i == h.Len()-1 {
			note(out, s.End, trace.Unavailable, 0)
		}
	}
	out.Extend(to)
	return out
}

// note appends a change that is known to be in order.
func note(h *trace.History, at time.Time, s trace.State, cpu float64) {
	if err := h.Append(at, s, cpu); err != nil {
		panic(fmt.Sprintf("a history out of order: %v", err))
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// timeIn adds up how long a history was in a state.
func timeIn(h *trace.History, state trace.State) (sum time.Duration) {
	for i := range h.Len() {
		if s := h.Spell(i); s.State == state {
			sum += s.Length()
		}
	}
	return sum
}

// A clockwork turns times of the trace into real ones and back.
type clockwork struct {
	start   time.Time // of the window, in the trace
	begun   time.Time // the same moment in reality
	speedup float64
}

func (c clockwork) real(at time.Time) time.Time {
	return c.begun.Add(time.Duration(float64(at.Sub(c.start)) / c.speedup))
}

func (c clockwork) traced(at time.Time) time.Time {
	return c.start.Add(time.Duration(float64(at.Sub(c.begun)) * c.speedup))
}

// realHistory is a history at the pace of reality.
func (c clockwork) realHistory(h *trace.History) *trace.History {
	out := &trace.History{Host: h.Host}
	for i := range h.Len() {
		s := h.Spell(i)
		note(out, c.real(s.Start), s.State, s.CPU)
	}
	out.Extend(c.real(h.Until()))
	return out
}
