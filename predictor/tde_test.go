package predictor

import (
	"math"
	"testing"
	"time"

	"godwit/trace"
)

// start is a midnight on which the tests' days begin.
var start = time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)

func minutes(m float64) time.Duration { return time.Duration(m * float64(time.Minute)) }

// tell tells p of times, in minutes after start, at which a host came and left in
// turns, and that it came at last.
func tell(p Predictor, from time.Time, turns ...float64) {
	for i, m := range turns {
		s := trace.Available
		if i%2 == 1 {
			s = trace.Unavailable
		}
		p.Observe(from.Add(minutes(m)), s)
	}
}

// The micro-vectors of docs/spec/zhang.md section 3.4, and both other readings of the same
// windows: the checking day is the first, the question is put a day later.
func TestTDEReadings(t *testing.T) {
	always := []float64{0}
	tests := []struct {
		name  string
		turns []float64
		l     float64
		m     int
		want  [3]float64 // transitional, prefix, fraction
	}{
		{"always", always, 60, 3, [3]float64{1, 1, 1}},
		{"exit at 90 of 180", []float64{0, 90, 1000}, 60, 3, [3]float64{1. / 2, 1. / 2, 1. / 2}},
		{"gap at 70-80", []float64{0, 70, 80}, 60, 3, [3]float64{2. / 3, 70. / 180, 170. / 180}},
		{"gaps at 20-30 and 120-130", []float64{0, 20, 30, 120, 130}, 60, 3, [3]float64{1. / 3, 20. / 180, 160. / 180}},
		{"exit at 30 of 60", []float64{0, 30, 1000}, 60, 1, [3]float64{0, .5, .5}},
		{"available only from 30", []float64{-10, -5, 30}, 60, 1, [3]float64{0, 0, .5}},
		{"never", []float64{-10, -5, 1000}, 60, 1, [3]float64{0, 0, 0}},
		{"a stay of just the length", []float64{0, 60, 1000}, 60, 1, [3]float64{1, 1, 1}},
		{"delayed decision, at 0 (section 7.3)", []float64{0, 30, 1440}, 60, 1, [3]float64{0, .5, .5}},
	}
	for _, c := range tests {
		for r, want := range c.want {
			p := NewTDE(TDEConfig{N: 1, M: c.m, Reading: Reading(r)})
			tell(p, start, c.turns...)
			got, known := p.Stay(start.Add(24*time.Hour), minutes(c.l))
			if !known || math.Abs(got-want) > 1e-12 {
				t.Errorf("%s, reading %d: %v, %v, want %v", c.name, r, got, known, want)
			}
		}
	}
	p := NewTDE(TDEConfig{N: 1, Reading: Prefix})
	tell(p, start, 0, 30, 1440)
	if got, _ := p.Stay(start.Add(24*time.Hour+minutes(10)), minutes(60)); math.Abs(got-20./60) > 1e-12 {
		t.Errorf("delayed decision, 10 min later: %v, want 1/3", got)
	}
}

// B.II of the thesis: at 36 h with t1 = 20 or 23 h, a job of 12 h.
func TestTDEPrefixOfFLP(t *testing.T) {
	for _, c := range []struct{ t1, want float64 }{{20, 8. / 12}, {23, 11. / 12}} {
		p := NewTDE(TDEConfig{Reading: Prefix})
		tell(p, start, 0, c.t1*60, 24*60)
		if got, _ := p.Stay(start.Add(36*time.Hour), 12*time.Hour); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("t1 = %v h: %v, want %v", c.t1, got, c.want)
		}
	}
}

// Table B-5: one prediction at the start of day 2 for an hour. The rows follow
// Table 5-1; the thesis's own text swaps scenarios 2 and 4.
func TestTDEScenariosOfPSPP(t *testing.T) {
	for i, c := range []struct {
		t1, t2 float64 // hours there at the start of each day
		want   Outcomes
	}{
		{1, 1, Outcomes{CP2: 1}},
		{.5, 1, Outcomes{FA: 1}},
		{.5, .7, Outcomes{CP1: 1}},
		{1, .7, Outcomes{MD: 1}},
		{.7, .5, Outcomes{CP1: 1}},
	} {
		for r := range Reading(3) {
			p := NewTDE(TDEConfig{Reading: r})
			tell(p, start, 0, c.t1*60, 24*60)
			rap, _ := p.Stay(start.Add(24*time.Hour), time.Hour)
			var got Outcomes
			got.Outcome(rap < 1, c.t2 < 1)
			if got != c.want {
				t.Errorf("scenario %d, reading %d: %+v, want %+v", i+1, r, got, c.want)
			}
		}
	}
}

// The B.I tables: RAP at 24 h of a job of a day, and at 24, 30 and 36 h of one
// of 6 h with t1 in steps of 3 h.
func TestTDESystemCases(t *testing.T) {
	for _, t1 := range []float64{24, 24, 12, 12, 10} {
		p := NewTDE(TDEConfig{})
		tell(p, start, 0, t1*60)
		if t1 < 24 {
			p.Observe(start.Add(24*time.Hour), trace.Available)
		}
		want := 0.0
		if t1 == 24 {
			want = 1
		}
		if got, _ := p.Stay(start.Add(24*time.Hour), 24*time.Hour); got != want {
			t.Errorf("t1 = %v: %v, want %v", t1, got, want)
		}
	}
	for i, want := range [][3]float64{{0, 0, 0}, {1, 0, 0}, {1, 0, 0}, {1, 1, 0}, {1, 1, 0}, {1, 1, 1}, {1, 1, 1}} {
		p := NewTDE(TDEConfig{})
		tell(p, start, 0, float64(i+1)*180, 24*60)
		for j, w := range want {
			if got, _ := p.Stay(start.Add(time.Duration(24+6*j)*time.Hour), 6*time.Hour); got != w {
				t.Errorf("t1 = %d h at %d h: %v, want %v", 3*(i+1), 24+6*j, got, w)
			}
		}
	}
}

func TestTDEDaysAndWeights(t *testing.T) {
	// Four days: there for the first 2 h, 1 h, 2 h and 2 h of each.
	turns := []float64{0, 120, 1440, 1500, 2880, 3000, 4320}
	now, l := start.Add(72*time.Hour), 90*time.Minute
	for _, c := range []struct {
		config TDEConfig
		want   float64
	}{
		{TDEConfig{N: 1}, 1},
		{TDEConfig{N: 2}, 1. / 2},
		{TDEConfig{N: 3}, 2. / 3},
		{TDEConfig{N: 6}, 2. / 6},
		{TDEConfig{N: 6, Missing: MissingSkip}, 2. / 3},
		{TDEConfig{N: 3, Weights: []float64{.7, .2, .1}}, .8}, // Eq 7.3
		{TDEConfig{N: 3, Weights: []float64{.1, .2, .7}}, .8}, // Eq 7.4
		{TDEConfig{N: 3, Weights: []float64{.1, .7, .2}}, .3},
		{TDEConfig{N: 4, Missing: MissingSkip, Weights: []float64{.5, .1, .2, .2}}, .6},
	} {
		p := NewTDE(c.config)
		tell(p, start, turns...)
		if got, _ := p.Stay(now, l); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%+v: %v, want %v", c.config, got, c.want)
		}
	}
	for _, c := range []TDEConfig{{N: -1}, {N: 32}, {M: 25}, {N: 2, Weights: []float64{1}},
		{N: 2, Weights: []float64{.33, .33}},
		{N: 2, Weights: []float64{-1, 2}}, {N: 1, Weights: []float64{math.NaN()}}} {
		if err := c.Validate(); err == nil {
			t.Errorf("%+v is accepted", c)
		}
	}
	p := NewTDE(TDEConfig{N: 5})
	tell(p, start, 0)
	if got, known := p.Stay(start.Add(time.Hour), time.Hour); got != 1 || known {
		t.Errorf("on the first day: %v, %v, want 1 and not known", got, known)
	}
}

// TestTDEAbsent: a window without an exit and without time for the job is a
// matter of reading; one with either is not.
func TestTDEAbsent(t *testing.T) {
	minute := func(m int) time.Time { return time.Unix(int64(60*m), 0) }
	for _, tt := range []struct {
		name   string
		up     [][2]int // of yesterday, minutes of the window's 60
		leaves float64
		stays  float64
	}{
		{"away throughout", nil, 0, 1},
		{"comes in the middle", [][2]int{{30, 60}}, 0, 1},
		{"leaves in the middle", [][2]int{{0, 30}}, 0, 0},
		{"comes and leaves", [][2]int{{10, 20}}, 0, 0},
		{"there throughout", [][2]int{{0, 60}}, 1, 1},
	} {
		for absent, want := range map[Absent]float64{AbsentLeaves: tt.leaves, AbsentStays: tt.stays} {
			p := NewTDE(TDEConfig{Absent: absent})
			p.Observe(minute(-1), trace.Unavailable)
			for _, u := range tt.up {
				p.Observe(minute(u[0]), trace.Available)
				if u[1] < 60 {
					p.Observe(minute(u[1]), trace.Unavailable)
				}
			}
			if got, known := p.Stay(minute(24*60), time.Hour); got != want || !known {
				t.Errorf("%s, %d: got %v, %v, want %v", tt.name, absent, got, known, want)
			}
		}
	}
}
