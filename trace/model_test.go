package trace

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// A dumbHistory says of each second what is known of it; seconds without an
// entry are before the first change or after the last.
type dumbHistory struct {
	known      bool
	from, till int
	seconds    map[int]dumbSecond
	last       dumbSecond // what the running spell is
}

type dumbSecond struct {
	state State
	cpu   float64
}

func (d *dumbHistory) note(at int, m dumbSecond) bool {
	if !d.known {
		if m.state == Unobserved {
			return true
		}
		d.known, d.from, d.till, d.last, d.seconds = true, at, at, m, map[int]dumbSecond{}
		return true
	}
	if at < d.till {
		return false
	}
	d.extend(at)
	if d.last = m; m.state == Unobserved && d.from == d.till {
		*d = dumbHistory{} // nothing was seen for any time
	}
	return true
}

func (d *dumbHistory) extend(at int) {
	for ; d.known && d.till < at; d.till++ {
		d.seconds[d.till] = d.last
	}
}

// drawBoth draws what happens to a history, and does it to both.
func drawBoth(t *rapid.T) (*History, *dumbHistory) {
	h, d := &History{Host: "h"}, &dumbHistory{}
	sec := 0
	for range rapid.IntRange(0, 12).Draw(t, "notes") {
		sec += rapid.IntRange(-1, 4).Draw(t, "step")
		switch rapid.IntRange(0, 5).Draw(t, "what") {
		case 0:
			if got, want := h.Gap(at(float64(sec))) == nil, d.note(sec, dumbSecond{state: Unobserved}); got != want {
				t.Fatalf("a gap at %d: accepted %v, want %v", sec, got, want)
			}
		case 1:
			h.Extend(at(float64(sec)))
			d.extend(sec)
		default:
			m := dumbSecond{state: State(rapid.IntRange(0, 4).Draw(t, "state"))}
			if m.state == Available {
				m.cpu = float64(rapid.IntRange(0, 4).Draw(t, "cpu")) / 4
			}
			if got, want := h.Append(at(float64(sec)), m.state, m.cpu) == nil, d.note(sec, m); got != want {
				t.Fatalf("%v at %d: accepted %v, want %v", m, sec, got, want)
			}
		}
	}
	return h, d
}

// second tells what a history knows of a second.
func (h *History) second(sec int) (dumbSecond, bool) {
	i := h.Find(at(float64(sec)))
	if i < 0 {
		return dumbSecond{}, false
	}
	s := h.Spell(i)
	return dumbSecond{s.State, s.CPU}, true
}

// agree compares a history with what is known of each second.
func agree(t *rapid.T, h *History, d *dumbHistory) {
	t.Helper()
	if !d.known {
		if h.Len() != 0 || !h.Since().IsZero() || !h.Until().IsZero() {
			t.Fatalf("%d spells, none were noted", h.Len())
		}
		return
	}
	if !h.Until().Equal(at(float64(d.till))) {
		t.Fatalf("known until %v, want second %d", h.Until(), d.till)
	}
	for sec := d.from - 2; sec < d.till; sec++ {
		got, ok := h.second(sec)
		want, known := d.seconds[sec]
		if ok != known || got != want {
			t.Fatalf("second %d: got %v, %v, want %v, %v", sec, got, ok, want, known)
		}
	}
	if got, ok := h.second(d.till); !ok || got != d.last {
		t.Fatalf("at its end: got %v, %v, want %v", got, ok, d.last)
	}
	if _, ok := h.second(d.till + 1); ok {
		t.Fatal("something is known of the time after its end")
	}
}

// TestHistoryAgreesWithSeconds: a history says of each second what was noted of it.
func TestHistoryAgreesWithSeconds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h, d := drawBoth(t)
		agree(t, h, d)
		for i := range h.Len() { // spells touch, differ, and have a length but for the last
			s := h.Spell(i)
			if s.Length() < 0 || s.Length() == 0 && i+1 < h.Len() {
				t.Fatalf("spell %d is %v long", i, s.Length())
			}
			if i == 0 {
				continue
			}
			if p := h.Spell(i - 1); !p.End.Equal(s.Start) || p.State == s.State && p.CPU == s.CPU {
				t.Fatalf("spells %v and %v", p, s)
			}
		}
	})
}

// TestAssumeAgreesWithSeconds: what nobody saw becomes what is assumed, and nothing
// else changes, in the history that is assumed of neither.
func TestAssumeAgreesWithSeconds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h, d := drawBoth(t)
		s := State(rapid.IntRange(0, 4).Draw(t, "assumed"))
		assumed := h.Assume(s)
		agree(t, h, d)
		m := dumbSecond{state: s}
		if s == Available {
			m.cpu = 1
		}
		for sec, was := range d.seconds {
			if was.state == Unobserved {
				d.seconds[sec] = m
			}
		}
		if d.last.state == Unobserved {
			d.last = m
		}
		agree(t, assumed, d)
	})
}

// TestJoinAgreesWithSeconds: two histories one after the other, and a gap between
// them if they do not touch.
func TestJoinAgreesWithSeconds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, d := drawBoth(t)
		b, e := drawBoth(t)
		shift := rapid.IntRange(-10, 60).Draw(t, "later")
		moved := &History{Host: "h"}
		for _, c := range b.changes {
			c.at += int64(shift) * 1000
			moved.changes = append(moved.changes, c)
		}
		moved.until = b.until + int64(shift)*1000
		want := !d.known || !e.known || e.from+shift >= d.till
		if got := a.join(moved) == nil; got != want {
			t.Fatalf("joined %v, want %v", got, want)
		}
		if !want || !e.known {
			return
		}
		if e.from+shift > d.till && d.from == d.till {
			d.known = false
		}
		if !d.known {
			*d = dumbHistory{known: true, from: e.from + shift, till: e.from + shift, seconds: map[int]dumbSecond{}}
		} else if e.from+shift > d.till {
			d.last = dumbSecond{state: Unobserved}
		}
		d.extend(e.from + shift)
		for sec := e.from; sec < e.till; sec++ {
			d.seconds[sec+shift] = e.seconds[sec]
		}
		d.till, d.last = e.till+shift, e.last
		agree(t, a, d)
	})
}

// TestWithinAgreesWithMinutes: a history that is cut to a window knows what it knew
// inside it, and nothing outside it.
func TestWithinAgreesWithMinutes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := &History{Host: "h"}
		begin := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
		minute := rapid.IntRange(0, 2000).Draw(t, "first")
		for range rapid.IntRange(1, 8).Draw(t, "spells") {
			if err := h.Append(begin.Add(time.Duration(minute)*time.Minute),
				State(rapid.IntRange(0, 4).Draw(t, "state")), 1); err != nil {
				t.Fatal(err)
			}
			minute += rapid.IntRange(1, 900).Draw(t, "length")
			h.Extend(begin.Add(time.Duration(minute) * time.Minute))
		}
		from := rapid.IntRange(0, 1400).Draw(t, "from")
		to := rapid.IntRange(from+1, 1440).Draw(t, "to")
		w := Window{time.Duration(from) * time.Minute, time.Duration(to) * time.Minute}
		cut, err := h.within(w)
		if err != nil {
			t.Fatal(err)
		}
		for m := range minute {
			when := begin.Add(time.Duration(m) * time.Minute)
			was, is := "unknown", "unknown"
			if i := h.Find(when); i >= 0 && m%1440 >= from && m%1440 < to {
				was = h.Spell(i).State.String()
			}
			if i := cut.Find(when); i >= 0 && cut.Spell(i).State != Unobserved {
				is = cut.Spell(i).State.String()
			}
			if was != is {
				t.Fatalf("minute %d, window %v: %s, want %s", m, w, is, was)
			}
		}
	})
}

// TestHistoryRefuses: what cannot be noted, with the reason, changes nothing.
func TestHistoryRefuses(t *testing.T) {
	h := &History{}
	if err := h.Append(at(10), Available, 0.5); err != nil {
		t.Fatal(err)
	}
	nan := 0.0
	nan /= nan
	for _, c := range []struct {
		at    float64
		state State
		cpu   float64
		want  string
	}{
		{9.999, UserPresent, 1,
			"2023-11-14T22:13:29.999Z is before 2023-11-14T22:13:30.000Z, up to where this history is known"},
		{11, Unobserved, 1, "5 is not a state"},
		{11, 200, 1, "200 is not a state"},
		{11, Available, 1.001, "CPU share 1.001 is outside 0 to 1"},
		{11, Available, -0.5, "CPU share -0.5 is outside 0 to 1"},
		{11, Available, nan, "CPU share NaN is outside 0 to 1"},
	} {
		if err := h.Append(at(c.at), c.state, c.cpu); err == nil || err.Error() != c.want {
			t.Errorf("%+v: got %v", c, err)
		}
	}
	if err := h.Gap(at(9)); err == nil {
		t.Error("a gap before the end: no error")
	}
	h.Extend(at(3))
	if h.Len() != 1 || !h.Until().Equal(at(10)) || h.Spell(0).CPU != 0.5 {
		t.Errorf("what was refused changed it: %v to %v", h.Spell(0), h.Until())
	}
	if err := h.Append(at(11), CPUBusy, 7); err != nil || h.Spell(1).CPU != 0 {
		t.Errorf("a CPU share of a busy host is to be ignored: %v", err)
	}
}

// TestStates: names, texts and what is no state.
func TestStates(t *testing.T) {
	for s, name := range []string{"available", "user-present", "cpu-busy", "leaving", "unavailable"} {
		s := State(s)
		b, err := s.MarshalText()
		var back State
		if err != nil || string(b) != name || s.String() != name || !s.Valid() || back.UnmarshalText(b) != nil ||
			back != s {
			t.Errorf("%s: %q, %v, %v", name, b, err, back)
		}
	}
	for s, name := range map[State]string{Unobserved: "unobserved", 6: "state(6)", 255: "state(255)"} {
		if _, err := s.MarshalText(); s.Valid() || s.String() != name || err == nil ||
			err.Error() != fmt.Sprintf("trace: %d is not a state", s) {
			t.Errorf("%s: %v, %v", name, s, err)
		}
	}
	for _, text := range []string{"", "unobserved", "Available", "available ", "0"} {
		var s State = Leaving
		err := s.UnmarshalText([]byte(text))
		want := fmt.Sprintf("unknown state %q: it is one of available, user-present, cpu-busy, leaving, unavailable",
			text)
		if err == nil || err.Error() != want || s != Leaving {
			t.Errorf("%q: %v, %v", text, s, err)
		}
	}
}

// TestWindows: which windows are windows, their lengths, names, and the days of a
// trace.
func TestWindows(t *testing.T) {
	hours := func(from, to float64) Window {
		return Window{time.Duration(from * float64(time.Hour)), time.Duration(to * float64(time.Hour))}
	}
	for _, c := range []struct {
		w    Window
		ok   bool
		name string
		long time.Duration
	}{
		{Window{}, true, "all", day}, {hours(0, 24), true, "all", day},
		{hours(10, 17), true, "10h0m0s-17h0m0s", 7 * time.Hour},
		{hours(0, 0.5), true, "0s-30m0s", 30 * time.Minute}, {hours(23, 24), true, "23h0m0s-24h0m0s", time.Hour},
		{hours(17, 10), false, "17h0m0s-10h0m0s", 0}, {hours(10, 10), false, "10h0m0s-10h0m0s", 0},
		{hours(-1, 3), false, "-1h0m0s-3h0m0s", 0},
		{hours(23, 25), false, "23h0m0s-25h0m0s", 0},
	} {
		err := c.w.Check()
		if (err == nil) != c.ok || c.w.String() != c.name || c.ok && c.w.Length() != c.long {
			t.Errorf("%v: %v, %v, want %+v", c.w, err, c.w.Length(), c)
		}
		if err != nil && err.Error() != "window "+c.name+" is not a part of one day" {
			t.Errorf("%v: got %v", c.w, err)
		}
	}
	noon := time.Date(2025, 3, 1, 12, 0, 0, 0, time.UTC)
	for length, want := range map[time.Duration]int{-day: 0, 0: 0, 1: 1, 12 * time.Hour: 1, 12*time.Hour + 1: 2,
		36 * time.Hour: 2, 10 * day: 11} {
		if got := (&Trace{Start: noon, End: noon.Add(length)}).Days(); got != want {
			t.Errorf("from noon for %v: %d days, want %d", length, got, want)
		}
	}
}
