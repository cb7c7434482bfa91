package plan

import (
	"fmt"
	"time"

	"godwit/internal/failure"
	"godwit/lab/testbed/clock"
	"godwit/sim"
	"godwit/trace"
)

const day = 24 * time.Hour

// pasts makes the histories of the scenario's hosts before its start, in the trace's time, and names their source. Days
// that the whole trace lacks are repeated from its first days.
func (f *Options) pasts(whole *trace.Trace, s *sim.Scenario) (pasts []*trace.History, source string, err error) {
	if f.Past == 0 {
		return nil, "", nil
	}
	window := s.End.Sub(s.Start)
	switch {
	case s.Rates != nil:
		return nil, "", failure.Usage("leave the past out", "nodes with rates have no past")
	case f.CompareSim:
		return nil, "", failure.Usage("leave out one of them", "--compare-sim simulates nodes without a past")
	case window >= day && f.Speedup > 1:
		return nil, "", failure.Usage("give fewer --minutes or a lower --speedup",
			"a replay with a past takes less than a day of the trace, and this one takes %v", window)
	}
	from := s.Start.Add(-f.Past)
	known := s.Start.Sub(whole.Start) // time of the trace before the start
	repeated := 0                     // first days of the trace that fill what is missing
	switch {
	case known >= f.Past:
		source = "from the trace"
	case known >= day:
		repeated = int(known / day)
		source = fmt.Sprintf("the last %v from the trace, and before them its first %d days repeated", known, repeated)
	case whole.End.Sub(whole.Start) >= day:
		repeated = 1
		source = "the trace's first day repeated, because the trace has no day before the replay"
	default:
		return nil, "", failure.Usage("give a longer trace, or leave the past out",
			"the trace takes %v, and a past needs a day of it", whole.End.Sub(whole.Start))
	}
	byName := map[string]*trace.History{}
	for _, h := range whole.Hosts {
		byName[h.History.Host] = h.History
	}
	for _, h := range s.Trace.Hosts {
		pasts = append(pasts, pastOf(byName[h.History.Host], from, s.Start, whole.Start, repeated))
	}
	return pasts, source, nil
}

// pastOf is a host's history between two times. What lies before first repeats so many days from first on.
func pastOf(h *trace.History, from, to, first time.Time, repeated int) *trace.History {
	if !from.Before(first) {
		return clock.Cut(h, from, to)
	}
	out := &trace.History{Host: h.Host}
	block := time.Duration(repeated) * day
	shift := ((first.Sub(from) + block - 1) / block) * block // of the block that has from
	for at := from; at.Before(first); shift -= block {
		end := first.Add(-shift + block)
		add(out, clock.Cut(h, at.Add(shift), end.Add(shift)), -shift)
		at = end
	}
	add(out, clock.Cut(h, first, to), 0)
	out.Extend(to)
	return out
}

// add appends a history, moved in time, to another one.
func add(out, h *trace.History, by time.Duration) {
	for i := range h.Len() {
		s := h.Spell(i)
		clock.Note(out, s.Start.Add(by), s.State, s.CPU)
	}
	out.Extend(h.Until().Add(by))
}
