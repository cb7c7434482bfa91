package credibility

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func someTerms(t *rapid.T) Terms {
	return Terms{
		Prior:  rapid.Float64Range(0, .9).Draw(t, "prior"),
		Target: rapid.Float64Range(1e-9, 1).Draw(t, "target"),
		Least:  rapid.Float64Range(0, 1).Draw(t, "least"),
	}
}

func TestTermsAreChecked(t *testing.T) {
	for _, tt := range []struct {
		terms Terms
		ok    bool
	}{
		{Terms{.1, 1e-3, .03}, true}, {Terms{0, 1, 0}, true}, {Terms{.99, 1e-9, 1}, true},
		{Terms{1, 1e-3, .03}, false}, {Terms{-.1, 1e-3, .03}, false}, {Terms{math.NaN(), 1e-3, .03}, false},
		{Terms{.1, 0, .03}, false}, {Terms{.1, 1.1, .03}, false}, {Terms{.1, math.NaN(), .03}, false},
		{Terms{.1, 1e-3, -.1}, false}, {Terms{.1, 1e-3, 1.1}, false}, {Terms{.1, 1e-3, math.NaN()}, false},
	} {
		if err := tt.terms.Check(); (err == nil) != tt.ok {
			t.Errorf("%+v: %v", tt.terms, err)
		}
	}
}

// TestDoubt: what is known by hand of the formulas.
func TestDoubt(t *testing.T) {
	open, listed := Terms{.1, 1e-3, .03}, Terms{0, 1e-3, .005}
	for _, tt := range []struct {
		what      string
		got, want float64
	}{
		{"nothing known", open.Doubt(0), .1},
		{"nothing is less than nothing", open.Doubt(-5), .1},
		{"no number", open.Doubt(math.NaN()), .1},
		{"a hundred", open.Doubt(100), 1. / 9 / (math.E * 100)},
		{"a stranger's task", open.Share(0), .99},
		{"well known", open.Share(1e6), .03},
		{"listed, unknown", listed.Share(0), .005},
		{"listed, doubt", listed.Doubt(0), 0},
		{"audited in full", open.After(0, 24, 24), 0},
		{"more than in full", open.After(0, 30, 24), 0},
		{"half", open.After(0, 12, 24), .05},
		{"two that agree", Agreeing(.1, .1), .01 / .82},
		{"one that is never wrong", Agreeing(0, .5), 0},
		{"both never", Agreeing(0, 0), 0},
	} {
		if math.Abs(tt.got-tt.want) > 1e-12 {
			t.Errorf("%s: %g, want %g", tt.what, tt.got, tt.want)
		}
	}
}

// Whatever the terms: who is known better is doubted no more and audited no more, nobody less
// than the least; and what an audit of that share leaves is at most the target.
func TestShareProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		terms := someTerms(t)
		less := rapid.Float64Range(0, 1e6).Draw(t, "less")
		more := less + rapid.Float64Range(0, 1e6).Draw(t, "more")
		if err := terms.Check(); err != nil {
			t.Fatal(err)
		}
		if terms.Doubt(more) > terms.Doubt(less) || terms.Share(more) > terms.Share(less) {
			t.Fatalf("%+v: %g is trusted less than %g", terms, more, less)
		}
		share := terms.Share(less)
		if share < terms.Least || share > 1 {
			t.Fatalf("%+v: a share of %g", terms, share)
		}
		if left := terms.Doubt(less) * (1 - share); left > terms.Target+1e-15 {
			t.Fatalf("%+v: %g is left of %g", terms, left, terms.Target)
		}
	})
}

// Two who agree are wrong less often than either, if either is right more often than not.
func TestAgreeingProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Float64Range(0, .5).Draw(t, "a"), rapid.Float64Range(0, .5).Draw(t, "b")
		both := Agreeing(a, b)
		if both > min(a, b)+1e-12 || both != Agreeing(b, a) {
			t.Fatalf("%g and %g agree: %g", a, b, both)
		}
	})
}

func TestStrangers(t *testing.T) {
	at := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	for c, want := range map[Credit]bool{{}: true, {First: at}: true, {First: at.Add(-FamiliarAfter + 1)}: true,
		{First: at.Add(-FamiliarAfter)}: false} {
		if c.Stranger(at) != want {
			t.Errorf("known since %v, a stranger: %v", c.First, !want)
		}
	}
	for _, s := range []Strangers{{Prior: 1}, {Network: -.1}, {New: math.NaN()}} {
		if s.Check() == nil {
			t.Errorf("%+v is taken", s)
		}
	}
}
