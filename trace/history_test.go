package trace

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

var epoch = time.UnixMilli(1_700_000_000_000).UTC()

func at(s float64) time.Time { return epoch.Add(time.Duration(s * float64(time.Second))) }

func TestHistory(t *testing.T) {
	var h History
	for _, c := range []struct {
		at    float64
		state State
		cpu   float64
		fails bool
	}{
		{0, Available, 1, false},
		{10, Available, 1, false},   // goes on
		{20, Available, 0.5, false}, // another share is another spell
		{30, UserPresent, 0.7, false},
		{25, Available, 1, true}, // the past is written
		{30, CPUBusy, 0, false},  // replaces a spell of no length
		{40, State(9), 0, true},
		{40, Available, 1.5, true},
	} {
		if err := h.Append(at(c.at), c.state, c.cpu); (err != nil) != c.fails {
			t.Fatalf("append %+v: %v", c, err)
		}
	}
	h.Extend(at(45))
	h.Extend(at(44))
	want := []Spell{{Available, at(0), at(20), 1}, {Available, at(20), at(30), 0.5}, {CPUBusy, at(30), at(45), 0}}
	if h.Len() != len(want) {
		t.Fatalf("%d spells, want %d", h.Len(), len(want))
	}
	for i, w := range want {
		if got := h.Spell(i); got != w {
			t.Errorf("spell %d is %+v, want %+v", i, got, w)
		}
	}
	for s, want := range map[float64]int{-1: -1, 0: 0, 19.9: 0, 20: 1, 45: 2, 45.1: -1} {
		if got := h.Find(at(s)); got != want {
			t.Errorf("find %v: %d, want %d", s, got, want)
		}
	}
}

// Begin and Present say of a spell what Spell says.
func partsAreTheSpell(t *rapid.T, h *History, i int) {
	want := h.Spell(i)
	millis, begins := h.Begin(i)
	if !time.UnixMilli(millis).Equal(want.Start) || begins != want.State {
		t.Fatalf("spell %d begins at %d as %v, want %+v", i, millis, begins, want)
	}
	if is, cpu := h.Present(i); is != want.State || cpu != want.CPU {
		t.Fatalf("spell %d is %v with %v of the processors, want %+v", i, is, cpu, want)
	}
}

// Whatever is appended, spells touch, neighbours differ, and Find agrees with a
// search from the start.
func TestHistoryHoldsTogether(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h History
		for range rapid.IntRange(1, 30).Draw(t, "changes") {
			_ = h.Append(at(rapid.Float64Range(-10, 100).Draw(t, "at")), State(rapid.IntRange(0, 5).Draw(t, "state")),
				rapid.Float64Range(0, 1).Draw(t, "cpu"))
		}
		for i := range h.Len() {
			s := h.Spell(i)
			partsAreTheSpell(t, &h, i)
			if i+1 < h.Len() {
				next := h.Spell(i + 1)
				if !s.End.After(s.Start) || !next.Start.Equal(s.End) || (next.State == s.State && next.CPU == s.CPU) {
					t.Fatalf("spell %+v, then %+v", s, next)
				}
			}
		}
		when := at(rapid.Float64Range(-10, 110).Draw(t, "when")).Truncate(time.Millisecond)
		found := -1
		for i := range h.Len() {
			if s := h.Spell(i); !when.Before(s.Start) && !when.After(h.Until()) {
				found = i
			}
		}
		if got := h.Find(when); got != found {
			t.Fatalf("find %v: %d, want %d", when, got, found)
		}
	})
}
