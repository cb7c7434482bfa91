package replay

import (
	"testing"
	"time"

	"godwit/lab/testbed/clock"
	"godwit/trace"
)

// A host counts as there from when its node is ready.
func TestPlayed(t *testing.T) {
	h := &trace.History{Host: "a"}
	at := func(s int) time.Time { return day0.Add(time.Duration(s) * time.Second) }
	for i, s := range []trace.State{trace.UserPresent, trace.Available, trace.Unavailable, trace.Available,
		trace.Unavailable, trace.Available} {
		clock.Note(h, at(10*i), s, 1)
	}
	h.Extend(at(60))
	p := &player{history: h, clock: clock.Clock{Start: day0, Begun: day0, Speedup: 1}, ups: []uptime{
		{from: at(0), to: at(20), ready: at(12)}, {from: at(30), to: at(40)}, {from: at(50), to: at(60), ready: at(51)},
	}}
	got := p.played()
	for s, want := range map[int]trace.State{0: trace.Unavailable, 11: trace.Unavailable, 12: trace.Available,
		20: trace.Unavailable,
		30: trace.Unavailable, 39: trace.Unavailable, 50: trace.Unavailable, 51: trace.Available, 59: trace.Available} {
		if state := got.Spell(got.Find(at(s))).State; state != want {
			t.Errorf("at %d s: %v, want %v", s, state, want)
		}
	}
}
