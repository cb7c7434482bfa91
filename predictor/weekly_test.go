package predictor

import (
	"math"
	"testing"
	"time"

	"godwit/trace"
)

const aWeek = 7 * 24 * time.Hour

// The published forms, on four weeks' readings of one interval.
func TestWeekly(t *testing.T) {
	monday := time.Date(2008, 9, 1, 10, 20, 0, 0, time.UTC)
	for _, tt := range []struct {
		name     string
		config   WeeklyConfig
		readings []float64 // the oldest first
		want     []float64 // after each
	}{
		{"(3.1)", WeeklyConfig{}, []float64{.6, .7, .8, .9}, []float64{.6, (.4*.7 + .3*.6) / .7,
			(.4*.8 + .3*.7 + .2*.6) / .9, .8}},
		{"(3.1), a fifth week", WeeklyConfig{}, []float64{0, .6, .7, .8, .9},
			[]float64{0, .4 * .6 / .7, (.4*.7 + .3*.6) / .9, .4*.8 + .3*.7 + .2*.6, .8}},
		{"(3.2)", WeeklyConfig{Recursive: true}, []float64{.9, .8, .7, .6}, []float64{.70, .75, .725, .6625}},
		{"(3.2), c = 1", WeeklyConfig{Recursive: true, Share: 1}, []float64{.9, .8}, []float64{.9, .8}},
		{"the last", WeeklyConfig{Weights: []float64{1}}, []float64{.9, .8}, []float64{.9, .8}},
	} {
		w, err := NewWeekly(tt.config)
		if err != nil {
			t.Fatal(err)
		}
		if a, known := w.Availability(monday); known || a != .5 {
			t.Errorf("%s: %v, %v before any reading", tt.name, a, known)
		}
		for i, r := range tt.readings {
			at := monday.Add(time.Duration(i) * aWeek)
			w.Read(at, r)
			if a, known := w.Availability(at.Add(aWeek + 39*time.Minute)); !known || math.Abs(a-tt.want[i]) > 1e-12 {
				t.Errorf("%s: after %d readings %v, want %v", tt.name, i+1, a, tt.want[i])
			}
		}
		for _, other := range []time.Duration{time.Hour, -time.Hour, 24 * time.Hour} {
			if _, known := w.Availability(monday.Add(other)); known {
				t.Errorf("%s: something is known %v off", tt.name, other)
			}
		}
	}
}

// A host that is there on Mondays until noon, and a quarter of the hour after that.
func TestWeeklyObserves(t *testing.T) {
	for _, spec := range []string{"weekly", "weekly:slots=24,weights=1/1/1", "weekly:by=recursion,c=1"} {
		m, err := Parse(spec)
		if err != nil {
			t.Fatal(err)
		}
		w := m.New(nil)
		monday := time.Date(2008, 9, 1, 0, 0, 0, 0, time.UTC)
		for k := range 3 {
			at := monday.Add(time.Duration(k) * aWeek)
			w.Observe(at, trace.Available)
			w.Observe(at.Add(12*time.Hour+15*time.Minute), trace.Unavailable)
			Blind(w, at.Add(24*time.Hour))
		}
		at := monday.Add(3*aWeek + 9*time.Hour)
		for _, tt := range []struct {
			d    time.Duration
			want float64
		}{{0, 1}, {2 * time.Hour, 1}, {3 * time.Hour, .25}, {210 * time.Minute, .25}, {4 * time.Hour, 0},
			{100 * time.Hour, 0}} {
			if p, known := w.Stay(at, tt.d); p != tt.want || !known {
				t.Errorf("%s: for %v it is %v, %v, want %v", spec, tt.d, p, known, tt.want)
			}
		}
		if p, known := w.Stay(at.Add(24*time.Hour), time.Hour); p != 1 || known {
			t.Errorf("%s: of Tuesdays, which nobody saw, it says %v, %v", spec, p, known)
		}
	}
}

// A host of which nothing is heard for a thousand years costs no more than one of a
// year.
func TestWeeklyIsBounded(t *testing.T) {
	w, _ := NewWeekly(WeeklyConfig{Slots: 7})
	w.Observe(time.Unix(0, 0), trace.Available)
	if p, known := w.Stay(time.Unix(1000*365*86400, 0), 1<<62); p != 1 || !known {
		t.Errorf("got %v, %v", p, known)
	}
}

func TestBadWeekly(t *testing.T) {
	for _, spec := range []string{"weekly:slots=289", "weekly:slots=0", "weekly:weights=0/0", "weekly:weights=-1/2",
		"weekly:c=2", "weekly:by=guess"} {
		if _, err := Parse(spec); err == nil {
			t.Errorf("%s is read", spec)
		}
	}
}
