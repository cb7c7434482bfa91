package trials

import (
	"math"
	"testing"
)

// Quantiles of published tables: Abramowitz and Stegun, Table 26.10, and the exact values for 1 and 2 degrees.
func TestStudentQuantiles(t *testing.T) {
	for _, tt := range []struct {
		p       float64
		degrees uint64
		want    float64
		within  float64
	}{
		{0.975, 1, math.Tan(math.Pi * 0.475), 1e-9},
		{0.975, 2, 0.95 / math.Sqrt(2*0.975*0.025), 1e-9},
		{0.95, 1, 6.314, 5e-4},
		{0.975, 3, 3.182, 5e-4},
		{0.975, 4, 2.776, 5e-4},
		{0.975, 5, 2.571, 5e-4},
		{0.995, 7, 3.499, 5e-4},
		{0.975, 9, 2.262, 5e-4},
		{0.975, 10, 2.228, 5e-4},
		{0.975, 20, 2.086, 5e-4},
		{0.95, 24, 1.711, 5e-4},
		{0.975, 29, 2.045, 5e-4},
		{0.975, 60, 2.000, 5e-4},
		{0.995, 120, 2.617, 5e-4},
		{0.975, 1_000_000_000_000, 1.959963984540, 1e-11},
		{0.025, 9, -2.262, 5e-4},
	} {
		if got := StudentQuantile(tt.p, tt.degrees); math.Abs(got-tt.want) > tt.within {
			t.Errorf("quantile %v of %d degrees is %.6f, want %.6f", tt.p, tt.degrees, got, tt.want)
		}
	}
}

// The series takes over where it agrees with the inversion.
func TestStudentQuantileHasNoStep(t *testing.T) {
	below, above := StudentQuantile(0.975, exactDegrees), StudentQuantile(0.975, exactDegrees+1)
	if step := below - above; step < -1e-9 || step > 1e-9 {
		t.Errorf("%.12f and %.12f", below, above)
	}
}
