package credibility

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// TestDenser: what is known by hand, of jobs that are checked by a share.
func TestDenser(t *testing.T) {
	for _, tt := range []struct {
		what         string
		share, bound float64
		accepted     uint64 // of the crowd
		total        uint64
		want         float64
	}{
		{"no crowd", .05, .2, 10, 1000, .05},
		{"at the bound", .05, .2, 199, 1000, .05},
		{"twice the bound", .05, .2, 399, 1000, .1},
		{"all of it", .05, .2, 999, 1000, .25},
		{"all of it, of strangers", .06, .3, 999, 1000, .2},
		{"a small job is left as it is", .05, .2, 98, 99, .05},
		{"one that is not quite small", .05, .2, 99, 100, .25},
		{"never most of it", .3, .2, 99, 100, .5},
		{"but what the job says", .8, .2, 99, 100, .8},
		{"no bound", .05, 0, 99, 100, .05},
	} {
		got := Denser(tt.share, Crowding(tt.accepted, tt.total, tt.bound), tt.bound, tt.total)
		if math.Abs(got-tt.want) > 1e-12 {
			t.Errorf("%s: %g, want %g", tt.what, got, tt.want)
		}
	}
}

// However a job is handed out, no less is audited than it says, and no more than that over the bound,
// nor than half: of a whole job in one crowd, on average.
func TestDenserProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		share := rapid.Float64Range(0, .5).Draw(t, "share")
		bound := rapid.Float64Range(.01, .99).Draw(t, "bound")
		total := rapid.Uint64Range(1, 500).Draw(t, "total")
		sum := 0.0
		for i := range total {
			got := Denser(share, Crowding(i, total, bound), bound, total)
			if got < share || got > MostDenser || got > share/bound+1e-12 {
				t.Fatalf("a share of %g of result %d", got, i)
			}
			sum += got
		}
		if most := min(MostDenser, share*(1+bound*bound)/(2*bound)+share/bound/float64(total)); sum/float64(total) >
			max(share, most)+1e-9 {
			t.Fatalf("%g of the job, at most %g", sum/float64(total), most)
		}
	})
}
