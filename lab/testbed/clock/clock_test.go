package clock

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"godwit/trace"
)

// drawHistory makes a history of any states, observed or not.
func drawHistory(t *rapid.T) *trace.History {
	h := &trace.History{Host: "a"}
	at := day0.Add(time.Duration(rapid.IntRange(0, 500).Draw(t, "since")) * time.Second)
	for range rapid.IntRange(0, 12).Draw(t, "spells") {
		if s := trace.State(rapid.IntRange(0, int(trace.Unobserved)).Draw(t, "state")); s == trace.Unobserved {
			if err := h.Gap(at); err != nil {
				t.Fatal(err)
			}
		} else {
			Note(h, at, s, 1)
		}
		at = at.Add(time.Duration(rapid.IntRange(1, 300).Draw(t, "length")) * time.Second)
	}
	h.Extend(at)
	return h
}

// stateAt is what a host does at a time, off where nobody looked.
func stateAt(h *trace.History, at time.Time) trace.State {
	i := h.Find(at)
	if i < 0 || !at.Before(h.Until()) || h.Spell(i).State == trace.Unobserved {
		return trace.Unavailable
	}
	return h.Spell(i).State
}

// A cut history says of its window what the whole one says, and its replay says
// the same at its own pace.
func TestCutHistory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := drawHistory(t)
		from := day0.Add(time.Duration(rapid.IntRange(0, 1000).Draw(t, "from")) * time.Second)
		length := time.Duration(rapid.IntRange(1, 1000).Draw(t, "window")) * time.Second
		cut := Cut(h, from, from.Add(length))
		if !cut.Since().Equal(from) || !cut.Until().Equal(from.Add(length)) {
			t.Fatalf("the cut goes from %v to %v", cut.Since(), cut.Until())
		}
		c := Clock{Start: from, Begun: day0.Add(time.Hour), Speedup: 10}
		real := c.History(cut)
		for at := from.Add(time.Second / 2); at.Before(from.Add(length)); at = at.Add(time.Second) {
			if got, want := stateAt(cut, at), stateAt(h, at); got != want {
				t.Fatalf("%v after the start: %v, want %v", at.Sub(from), got, want)
			}
			if got, want := stateAt(real, c.Real(at)), stateAt(h, at); got != want {
				t.Fatalf("%v after the start of the replay: %v, want %v", at.Sub(from), got, want)
			}
		}
	})
}

var day0 = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
