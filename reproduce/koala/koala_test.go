package koala

import (
	"testing"

	"godwit/reproduce"
)

// TestKoala runs what Grundeken 2009 published: nothing may differ without a
// reason.
func TestKoala(t *testing.T) {
	for _, e := range Experiments() {
		t.Run(e.Name, func(t *testing.T) {
			r, err := e.Run(reproduce.Options{Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range r.Cells {
				t.Logf("%s: %s: published %s, obtained %s: %s (%s)", c.Experiment, c.Cell, c.Published, c.Obtained, c.Verdict,
					c.Note)
				if c.Unexplained() {
					t.Errorf("%s: published %s, obtained %s: %s", c.Cell, c.Published, c.Obtained, c.Verdict)
				}
			}
		})
	}
}

// TestDelayShape: delays that peak at two parts and fall from there are as published;
// delays that fall from one part on are not.
func TestDelayShape(t *testing.T) {
	for _, tt := range []struct {
		name        string
		added       []float64
		peak, falls bool
	}{
		{"as published", []float64{15.1, 29.2, 24.2, 18, 12.5, 7.8}, true, true},
		{"falls evenly", []float64{21.3, 20.7, 19.5, 15.8, 11.8, 11.5}, false, true},
		{"all alike", []float64{20, 20, 20, 20, 20, 20}, false, false},
		{"rises again", []float64{15, 29, 24, 18, 19, 8}, true, false},
	} {
		b := &bench{&reproduce.Bench{}}
		b.delayShape(tt.added)
		for i, holds := range []bool{tt.peak, tt.falls} {
			if c := b.Cells[i]; (c.Verdict == reproduce.Direction) != holds {
				t.Errorf("%s: %+v", tt.name, c)
			}
		}
		if c := b.Cells[0]; c.Unexplained() || c.Published != "15.1 29.2 24.2 18.0 12.5 7.8 s" {
			t.Errorf("%s: %+v", tt.name, c)
		}
	}
}

// TestPolls: a delay is judged by half a poll, not by a range that any delay is in.
func TestPolls(t *testing.T) {
	for obtained, want := range map[float64]reproduce.Verdict{2.13: reproduce.Differs, 2.01: reproduce.Within,
		1.02: reproduce.Within, 1: reproduce.Differs} {
		b := &bench{&reproduce.Bench{}}
		b.polls("c", 1.51, obtained)
		if c := b.Cells[0]; c.Verdict != want || c.Unexplained() {
			t.Errorf("%v polls: %+v, want %s", obtained, c, want)
		}
	}
}

// TestCountedVerdicts: totals count no figure of which nothing is published, and none that
// a cost was fitted to.
func TestCountedVerdicts(t *testing.T) {
	for name, want := range map[string][3]int{"K1": {0, 1, 6}, "K2": {6, 6, 10}, "K3": {2, 0, 5}} {
		es, err := reproduce.Select(Experiments(), []string{name})
		if err != nil {
			t.Fatal(err)
		}
		r, err := es[0].Run(reproduce.Options{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		n := reproduce.Count(r.Cells)
		counted := 0
		for _, c := range r.Cells {
			if c.Counted() {
				counted++
			}
			if c.Verdict == reproduce.Direction && c.Published == "-" {
				t.Errorf("%s: %+v has no published figure", name, c)
			}
		}
		if got := [3]int{n[reproduce.Fitted], n[reproduce.Unpublished], counted}; got != want {
			t.Errorf("%s: fitted, unpublished and counted %v, want %v", name, got, want)
		}
	}
}
