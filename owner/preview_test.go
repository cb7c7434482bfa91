package owner

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"godwit/trace"
)

// monday is a Monday, at midnight.
var monday = time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)

// a day of somebody's: hours from midnight on, and the states from then.
func pastDay(t testing.TB) *trace.History {
	h := &trace.History{}
	for _, c := range []struct {
		hour  float64
		state trace.State
	}{{0, trace.Available}, {8, trace.UserPresent}, {12, trace.Available}, {13, trace.UserPresent}, {17, trace.CPUBusy},
		{18, trace.Available}, {22, trace.Unavailable}} {
		if err := h.Append(monday.Add(time.Duration(c.hour*float64(time.Hour))), c.state, 1); err != nil {
			t.Fatal(err)
		}
	}
	h.Extend(monday.Add(24 * time.Hour))
	return h
}

// told is a preview in short: hours available, stops, hours unknown.
func told(p *Preview) [3]float64 {
	return [3]float64{p.Then.Available.Hours(), float64(p.Then.Stops), p.Unknown.Hours()}
}

func TestForesee(t *testing.T) {
	tests := []struct {
		name, was, then string
		want            [3]float64
		note            string
	}{
		{"nothing", "", "", [3]float64{13, 3, 0}, ""},
		{"the owner does not matter", "", "run_if_user_active: true", [3]float64{21, 2, 0}, "a pause"},
		{"the load does not matter", "", "suspend_cpu_usage: 0\nsuspend_memory_pressure: 0", [3]float64{14, 3, 0}, ""},
		{"a lower limit", "", "suspend_cpu_usage: 10", [3]float64{13, 3, 14}, "of 14h0m0s nobody can tell"},
		{"half an hour longer", "", "idle_time_to_run: 33", [3]float64{12.5, 3, 0}, "last input"},
		{"longer than the break", "", "idle_time_to_run: 3h", [3]float64{12, 2, 0}, "last input"},
		{"at night", "", "hours:\n  daily: 18-8", [3]float64{12, 2, 0}, ""},
		{"no longer at night", "hours:\n  daily: 0-22", "hours:\n  daily: 0-24", [3]float64{13, 3, 2}, "nobody can tell"},
		{"never", "", "hours:\n  daily: never", [3]float64{0, 0, 0}, ""},
		{"fewer cores", "", "max_cores: 1", [3]float64{13, 3, 0}, "cores and memory"},
	}
	for _, tt := range tests {
		was, err := Parse("", []byte(tt.was))
		if err != nil {
			t.Fatal(err)
		}
		then, err := Parse("", []byte(tt.then))
		if err != nil {
			t.Fatal(err)
		}
		p := Foresee(pastDay(t), monday.Add(-time.Hour), &was, &then, time.UTC)
		if got := told(&p); got != tt.want || !strings.Contains(strings.Join(p.Notes, "; "), tt.note) {
			t.Errorf("%s: %v, want %v; %q, want a word of %q", tt.name, got, tt.want, p.Notes, tt.note)
		}
		if p.Was.Available != 13*time.Hour || p.Was.Stops != 3 || !p.From.Equal(monday) || tt.note == "" && len(p.Notes) > 0 {
			t.Errorf("%s: it was %+v since %v, with %q", tt.name, p.Was, p.From, p.Notes)
		}
	}
}

// Whatever the past and the rules: what would have been covers the time once, and the same rules change nothing.
func TestForeseeCovers(t *testing.T) {
	texts := []string{"", "run_if_user_active: true", "idle_time_to_run: 1h", "idle_time_to_run: 0",
		"hours:\n  daily: 9-17",
		"hours:\n  monday: never\n  tuesday: 22-6", "suspend_cpu_usage: 0\nsuspend_memory_pressure: 0",
		"run_on_batteries: true"}
	rapid.Check(t, func(t *rapid.T) {
		h := &trace.History{}
		at := monday
		for range rapid.IntRange(1, 40).Draw(t, "spells") {
			if err := h.Append(at, trace.State(rapid.IntRange(0, 4).Draw(t, "state")), 1); err != nil {
				t.Fatal(err)
			}
			at = at.Add(time.Duration(rapid.IntRange(1, 900).Draw(t, "minutes")) * time.Minute)
			if rapid.IntRange(0, 9).Draw(t, "gap") == 0 {
				if err := h.Gap(at); err != nil {
					t.Fatal(err)
				}
				at = at.Add(time.Hour)
			}
		}
		h.Extend(at)
		read := func(name string) *Rules {
			r, err := Parse("", []byte(rapid.SampledFrom(texts).Draw(t, name)))
			if err != nil {
				t.Fatal(err)
			}
			return &r
		}
		was, then := read("was"), read("then")
		from := monday.Add(time.Duration(rapid.IntRange(-100, 3000).Draw(t, "from")) * time.Minute)
		p := Foresee(h, from, was, then, time.UTC)
		for i, s := range p.Spells {
			if !s.End.After(s.Start) || i > 0 && !s.Start.Equal(p.Spells[i-1].End) {
				t.Fatalf("spell %d is %v to %v, after %v", i, s.Start, s.End, p.Spells[max(0, i-1)].End)
			}
		}
		if n := len(p.Spells); n > 0 && (!p.Spells[0].Start.Equal(p.From) || !p.Spells[n-1].End.Equal(h.Until())) {
			t.Fatalf("it covers %v to %v, of %v to %v", p.Spells[0].Start, p.Spells[n-1].End, p.From, h.Until())
		}
		if same := Foresee(h, from, was, was, time.UTC); was.Hours.Always() && same.Then != same.Was {
			t.Fatalf("the same rules make %+v of %+v", same.Then, same.Was)
		}
	})
}

// Every rule is explained, in a sentence, and has a kind.
func TestExplain(t *testing.T) {
	usual, every := Default(), Everything()
	for _, r := range []*Rules{&usual, &every, {}} {
		for _, e := range Explain(r, []byte("max_cores: 1 # mine\n")) {
			if !strings.HasSuffix(e.Effect, ".") || e.Kind == "" || e.Hint == "" || e.Set != (e.Key == "max_cores") {
				t.Errorf("%+v", e)
			}
		}
	}
	if n := len(Explain(&usual, nil)); n != len(Keys()) {
		t.Errorf("%d rules of %d are explained", n, len(Keys()))
	}
}
