package credibility

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var day0 = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func TestCreditFades(t *testing.T) {
	var c Credit
	if c.Right(day0) != 0 {
		t.Errorf("one that nobody met has %g", c.Right(day0))
	}
	c.Confirm(24, 24, day0)
	c.Confirm(6, 24, day0)
	c.Confirm(0, 24, day0.Add(time.Hour)) // nothing was audited: nothing happened
	if got := c.Right(day0); got != 1.25 {
		t.Errorf("a task and a quarter count %g", got)
	}
	if got := c.Right(day0.Add(HalfLife)); math.Abs(got-.625) > 1e-12 {
		t.Errorf("after a half-life %g", got)
	}
	c.Confirm(24, 24, day0.Add(HalfLife))
	if got := c.Right(day0.Add(2 * HalfLife)); math.Abs(got-.8125) > 1e-12 {
		t.Errorf("after another %g", got)
	}
}

// Confirming often or seldom is the same: credit fades by time alone.
func TestCreditProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c Credit
		want, at := 0.0, day0
		for range rapid.IntRange(1, 20).Draw(t, "audits") {
			n := rapid.IntRange(1, 32).Draw(t, "n")
			m := rapid.IntRange(0, n).Draw(t, "m")
			hours := rapid.IntRange(0, 5000).Draw(t, "hours")
			wait := time.Duration(hours) * time.Hour
			want *= math.Exp2(-float64(wait) / float64(HalfLife))
			want += float64(m) / float64(n)
			at = at.Add(wait)
			c.Confirm(m, n, at)
		}
		if got := c.Right(at); math.Abs(got-want) > 1e-9*max(1, want) {
			t.Fatalf("%g, want %g", got, want)
		}
	})
}

func TestRefusals(t *testing.T) {
	var c Credit
	c.Confirm(1, 1, day0)
	for i := range 2 * MostRefusals {
		if again, want := c.Refuse(), (i+1)%MostRefusals == 0; again != want {
			t.Errorf("refusal %d: %v", i+1, again)
		}
	}
	if c.Right(day0) != 0 || c.Refusals != 0 {
		t.Errorf("%+v after as many refusals as make it begin anew", c)
	}
}

// What breaks with one disk counts once; a worker that loses what it signed since, again and again,
// begins at nothing; one that serves between keeps its standing.
func TestLosses(t *testing.T) {
	var c Credit
	c.Confirm(5, 1, day0)
	hour := func(n int) time.Time { return day0.Add(time.Duration(n) * time.Hour) }
	for i := range 100 { // a disk with a hundred runs
		if c.Lose(hour(1), hour(2).Add(time.Duration(i)*time.Minute)) {
			t.Fatalf("the runs of one disk are %d losses", c.Losses)
		}
	}
	if c.Losses != 1 || c.Right(day0) == 0 {
		t.Errorf("%+v after one disk broke", c)
	}
	for n := 10; n < 50; n += 2 {
		if !c.Serve() || c.Lose(hour(n), hour(n+1)) {
			t.Fatalf("%+v though it serves as often as not", c)
		}
	}
	begins := 0
	for n := 60; n < 60+2*MostRefusals*3; n += 2 {
		if c.Lose(hour(n), hour(n+1)) {
			begins++
		}
	}
	if begins != 3 || c.Right(hour(100)) != 0 {
		t.Errorf("who loses all began at nothing %d times: %+v", begins, c)
	}
}

func TestPraise(t *testing.T) {
	for _, tt := range []struct {
		what   string
		own    float64
		others []Praise
		want   float64
	}{
		{"nobody speaks", 5, nil, 5},
		{"a stranger's praise", 0, []Praise{{1, 1e9}}, 10},
		{"at most as much again, and ten", 50, []Praise{{1, 1e9}, {1, 1e9}}, 110},
		{"as far as one counts", 50, []Praise{{.5, 20}, {0, 100}}, 60},
		{"nobody takes away", 50, []Praise{{1, -30}, {-1, 30}, {math.NaN(), 1}}, 50},
	} {
		if got := With(tt.own, tt.others); got != tt.want {
			t.Errorf("%s: %g, want %g", tt.what, got, tt.want)
		}
	}
}

// Whatever others tell, and however many they are: no less is believed than without them, and together
// with what others' runs add at most twice what was seen, and ten; in a pool without a bonus,
// at most twice.
func TestBelievedWithProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Credit{Known: rapid.Float64Range(0, 1e4).Draw(t, "known"),
			Praised: rapid.SampledFrom([]float64{0, 3, 1e9}).Draw(t, "praised"), At: day0}
		now := day0.Add(time.Duration(rapid.IntRange(0, 1000).Draw(t, "hours")) * time.Hour)
		var told []Praise
		for range rapid.IntRange(0, 20).Draw(t, "tellers") {
			told = append(told, Praise{rapid.Float64Range(0, 1).Draw(t, "weight"),
				rapid.Float64Range(0, 1e12).Draw(t, "right")})
		}
		own, without := c.Right(now), c.Believed(now)
		with, doubled := c.BelievedWith(told, Hearsay, now), c.BelievedWith(told, 0, now)
		if doubled < without || with < doubled || with > 2*own+Hearsay+1e-9*(own+1) {
			t.Fatalf("%g of its own, %g without, %g doubled, %g with", own, without, doubled, with)
		}
		if c.Praised == 0 && doubled > 2*own+1e-9*own {
			t.Fatalf("%g of its own, doubled %g", own, doubled)
		}
		if len(told) == 0 && with != without {
			t.Fatalf("nobody tells: %g, not %g", with, without)
		}
	})
}

// Who was outvoted has no say for a half-life and begins at nothing; who was wrong never has one again.
func TestSays(t *testing.T) {
	var c Credit
	c.Confirm(5, 1, day0)
	c.Outvote(day0)
	if c.Says(day0.Add(HalfLife-time.Second)) || !c.Says(day0.Add(HalfLife)) || c.Right(day0) != 0 {
		t.Errorf("%+v", c)
	}
	c.Faults++
	if c.Says(day0.Add(10 * HalfLife)) {
		t.Error("who was wrong has a say")
	}
}
