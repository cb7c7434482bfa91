package place

import (
	"testing"
	"time"
)

// What each policy needs of whoever runs it: one that asked for less would be run
// without it, and nobody would notice.
func TestTraits(t *testing.T) {
	for _, c := range []struct {
		spec, predictor string
		again           time.Duration
		shares          bool
		patience        float64
		functions       string // the letters of those that are there: Lost, Situate, Rate, raNk
	}{
		{spec: "expected", predictor: "blend", again: again, functions: "S"},
		{spec: "fastest"}, {spec: "random"}, {spec: "uptime"},
		{spec: "fcfs", functions: "N"},
		{spec: "fcfs:order=turn", functions: "N"},
		{spec: "fcfs:order=worst"},
		{spec: "fcfs:order=idle,patience=3", patience: 3, functions: "R"},
		{spec: "fcfspp:n=3", predictor: "tde:n=3", again: again},
		{spec: "flp", predictor: "tde", again: again, functions: "L"},
		{spec: "psopp", predictor: "tde", shares: true},
		{spec: "gcmu:patience=2", patience: 2, functions: "R"},
		{spec: "lpas:patience=1.5", patience: 1.5, functions: "R"},
		{spec: "met", shares: true, functions: "R"},
		{spec: "mct:patience=4", shares: true, patience: 4, functions: "R"},
		{spec: "kpb", shares: true, functions: "R"},
	} {
		p, err := Parse(c.spec)
		if err != nil {
			t.Fatal(err)
		}
		got, functions := p.Traits(), ""
		for _, f := range []struct {
			letter string
			there  bool
		}{{"L", got.Lost != nil}, {"S", got.Situate != nil}, {"R", got.Rate != nil}, {"N", got.Rank != nil}} {
			if f.there {
				functions += f.letter
			}
		}
		if got.Predictor != c.predictor || got.Again != c.again || got.Shares != c.shares || got.Patience != c.patience ||
			functions != c.functions {
			t.Errorf("%s: predictor %q, again %v, shares %v, patience %v, functions %q; want %+v", c.spec, got.Predictor,
				got.Again, got.Shares, got.Patience, functions, c)
		}
	}
}
