package sim

import (
	"math"
	"testing"
)

// TestSpread: exactly up to so many, then within a thousandth.
func TestSpread(t *testing.T) {
	var s spread
	for i := range 1000 {
		s.add(float64(1 + (i*7919)%1000))
	}
	if got, want := s.of(), (Spread{N: 1000, Mean: 500.5, P50: 500, P95: 950, P99: 990, Max: 1000}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	for i := range exactKept + 1 {
		s.add(float64(1 + i%1000))
	}
	if got := s.of(); math.Abs(got.P95/950-1) > 1.5e-3 || math.Abs(got.P50/500-1) > 3e-3 || got.Max != 1000 {
		t.Errorf("of many: %+v", got)
	}
}
