package plan

import (
	"strings"
	"testing"
	"time"

	"godwit/sim"
	"godwit/trace"
)

// weekday is a host that is away from 12:00 to 14:00 of each of its first days, and away all of the last one.
func weekday(days int) *trace.Trace {
	h := &trace.History{Host: "a"}
	for d := range days {
		begin := day0.Add(time.Duration(d) * day)
		note(h, begin, trace.Available)
		note(h, begin.Add(12*time.Hour), trace.Unavailable)
		note(h, begin.Add(14*time.Hour), trace.Available)
	}
	end := day0.Add(time.Duration(days) * day)
	note(h, end, trace.Unavailable)
	h.Extend(end.Add(day))
	return &trace.Trace{Start: day0, End: end.Add(day), Hosts: []trace.Host{{History: h}}}
}

func note(h *trace.History, at time.Time, s trace.State) {
	if err := h.Append(at, s, 1); err != nil {
		panic(err)
	}
}

// A past has the days before the start, and where the trace has too few, its first days again, at the same hours.
func TestPastRepeatsFirstDaysWhereTraceHasNone(t *testing.T) {
	for _, tt := range []struct {
		days   int           // of past
		start  time.Duration // after the trace's
		source string
		away   time.Duration // of the past
	}{
		{2, 3*day + 11*time.Hour, "from the trace", 4 * time.Hour},
		{5, 2*day + 11*time.Hour, "the last 59h0m0s from the trace, and before them its first 2 days repeated", 10 * time.Hour},
		{3, 11 * time.Hour, "the trace's first day repeated, because the trace has no day before the replay", 6 * time.Hour},
		{0, 11 * time.Hour, "", 0},
	} {
		whole := weekday(4)
		s := &sim.Scenario{Trace: whole, Start: day0.Add(tt.start), End: day0.Add(tt.start + 30*time.Minute)}
		f := Options{Past: time.Duration(tt.days) * day, Speedup: 10}
		pasts, source, err := f.pasts(whole, s)
		if err != nil || source != tt.source {
			t.Errorf("%d days before %v: %q, %v, want %q", tt.days, tt.start, source, err, tt.source)
		}
		if tt.days == 0 {
			continue
		}
		h := pasts[0]
		if !h.Since().Equal(s.Start.Add(-f.Past)) || !h.Until().Equal(s.Start) {
			t.Errorf("%d days before %v: from %v to %v", tt.days, tt.start, h.Since(), h.Until())
		}
		away := time.Duration(0)
		for i := range h.Len() {
			if p := h.Spell(i); p.State == trace.Unavailable {
				away += p.Length()
				if p.Start.Hour() != 12 || p.End.Hour() != 14 {
					t.Errorf("%d days before %v: away from %v to %v", tt.days, tt.start, p.Start, p.End)
				}
			}
		}
		if away != tt.away {
			t.Errorf("%d days before %v: away for %v, want %v", tt.days, tt.start, away, tt.away)
		}
	}
}

// A past that cannot be given is refused.
func TestPastRefused(t *testing.T) {
	whole := weekday(4)
	s := &sim.Scenario{Trace: whole, Start: day0.Add(day), End: day0.Add(2 * day)}
	short := &trace.Trace{Start: day0, End: day0.Add(5 * time.Hour)}
	brief := &sim.Scenario{Trace: short, Start: day0, End: day0.Add(time.Hour)}
	for _, tt := range []struct {
		options Options
		of      *sim.Scenario
		want    string
	}{
		{Options{Past: day, Speedup: 10}, s, "takes less than a day"},
		{Options{Past: day, Speedup: 10, CompareSim: true}, brief, "without a past"},
		{Options{Past: day, Speedup: 10}, brief, "a past needs a day"},
	} {
		if _, _, err := tt.options.pasts(tt.of.Trace, tt.of); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: got %v, want %q", tt.options, err, tt.want)
		}
	}
}
