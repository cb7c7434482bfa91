package clock

import (
	"testing"
	"time"

	"godwit/trace"
)

// The hours of a replay are as fast in the past as in the replay itself, and days stay days.
func TestPastHasReplayedHoursAtReplaysPace(t *testing.T) {
	c := Clock{Start: day0.Add(10 * day), Begun: day0.Add(1000 * day), Speedup: 20}
	h := &trace.History{Host: "a"}
	window, leaves := 40*time.Minute, 10*time.Minute
	for d := range 3 {
		begin := c.Start.Add(time.Duration(d-3) * day)
		Note(h, begin, trace.Available, 1)
		Note(h, begin.Add(leaves), trace.Unavailable, 0)
		Note(h, begin.Add(window+(day-window)/2), trace.Available, 1)
	}
	h.Extend(c.Start)
	got := c.Past(h, window)
	if !got.Until().Equal(c.Begun) || got.Len() != 6 && got.Len() != 7 {
		t.Fatalf("%d spells until %v", got.Len(), got.Until())
	}
	for d := range 3 {
		begin := c.Begun.Add(time.Duration(d-3) * day)
		away := got.Spell(1 + 2*d)
		played := 2 * time.Minute
		if want := begin.Add(30 * time.Second); away.State != trace.Unavailable || !away.Start.Equal(want) {
			t.Errorf("day %d: %v from %v, want %v", d, away.State, away.Start, want)
		}
		if want := begin.Add(played + (day-played)/2); away.End.Sub(want).Abs() > time.Second {
			t.Errorf("day %d: away until %v, want %v", d, away.End, want)
		}
	}
	c.Speedup = 1
	if same := c.Past(h, window); !same.Since().Equal(c.Begun.Add(-3*day)) || same.Spell(1).Length() != h.Spell(1).Length() {
		t.Errorf("at speed 1 it begins at %v", same.Since())
	}
}
