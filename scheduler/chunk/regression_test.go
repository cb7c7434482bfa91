package chunk

import (
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// calibrate completes each member's calibration run.
func calibrate(t testing.TB, spec string, runs int64, members []Member, seconds []float64) *calibrated {
	t.Helper()
	p, err := Parse(spec, Job{Runs: runs})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range members {
		p.Join(m)
	}
	for i := range members {
		p.Size(at(0), Node(i), Ask{Remaining: runs})
	}
	for i, s := range seconds {
		p.Done(at(s), Node(i), 1, time.Duration(s*1e9))
	}
	return p.(*calibrated)
}

// The measured times are exactly 8 + .5 l - 4 a', with a' = .25, 1, .5, 1 and l = 0, 2, 0, 1, so the
// multivariate regression returns them. The univariate one is 7.611 - 2.889 a'.
func TestCalibrations(t *testing.T) {
	members := []Member{{Available: 0.25}, {Latency: 2 * time.Second}, {Available: 0.5}, {Latency: time.Second}}
	seconds := []float64{7, 5, 6, 4.5}
	for _, tt := range []struct {
		spec    string
		members []Member
		want    [4]float64 // times from which shares are computed
		why     string
	}{
		{"calibrated", members, [4]float64{7, 5, 6, 4.5}, " rounds"},
		{"calibrated:fit=multivariate", members, [4]float64{7, 5, 6, 4.5}, ", by fitted times"},
		{"calibrated:fit=univariate", members, [4]float64{6.888889, 4.722222, 6.166667, 4.722222}, ", by fitted times"},
		{"calibrated:fit=univariate", make([]Member, 4), [4]float64{7, 5, 6, 4.5},
			", by measured times: no regressor differs between members"},
		// Processors do not differ: the line through time and latency is 6.273 - .864 l.
		{"calibrated:fit=multivariate", []Member{{}, {Latency: 2 * time.Second}, {}, {Latency: time.Second}},
			[4]float64{6.272727, 4.545455, 6.272727, 5.409091}, ", by fitted times"},
	} {
		p := calibrate(t, tt.spec, 1000, tt.members, seconds)
		inverse := 0.0
		for _, s := range tt.want {
			inverse += 1 / s
		}
		k := p.installments()
		for i, s := range tt.want {
			want := int(1000/k/s/inverse + 0.5)
			if got, why := p.Size(at(7), Node(i), Ask{Remaining: 996}); got != want || !strings.HasSuffix(why.String(), tt.why) {
				t.Errorf("%s: member %d gets %d (%v), want %d (%s)", tt.spec, i, got, why, want, tt.why)
			}
		}
	}
}

// Residuals of a least-squares fit are orthogonal to 1 and to each regressor.
func TestRegressionIsLeastSquares(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(3, 20).Draw(rt, "members")
		members, seconds := make([]Member, n), make([]float64, n)
		for i := range members {
			members[i] = Member{Available: float64(rapid.IntRange(1, 20).Draw(rt, "available")) / 20,
				Latency: time.Duration(rapid.IntRange(0, 50).Draw(rt, "latency")) * 10 * time.Millisecond}
			seconds[i] = float64(rapid.IntRange(50, 400).Draw(rt, "seconds")) / 8
		}
		fit := rapid.SampledFrom(fits[1:]).Draw(rt, "fit")
		p := calibrate(t, "calibrated:fit="+fit, 1e6, members, seconds)
		p.regress()
		if !p.line.known {
			return
		}
		var one, latency, processor float64
		for i, x := range p.known {
			r := seconds[i] - p.line.c[0] - p.line.c[1]*x.latency - p.line.c[2]*x.processor
			one, latency, processor = one+r, latency+r*x.latency, processor+r*x.processor
			if got := p.line.time(x); got < p.line.least {
				rt.Fatalf("member %d: a fitted time of %v, below all measured ones", i, got)
			}
		}
		if math.Abs(one) > 1e-6 || p.line.c[2] != 0 && math.Abs(processor) > 1e-6 ||
			p.line.c[1] != 0 && math.Abs(latency) > 1e-6 {
			rt.Fatalf("residuals sum to %v, times latency to %v, times processor to %v", one, latency, processor)
		}
	})
}
