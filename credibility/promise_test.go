package credibility

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The formula agrees with checks that are drawn as the submitter draws them.
func TestUnnoticedAgreesWithDraws(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, tt := range []struct{ tasks, checks, wrong uint64 }{{100, 10, 20}, {10, 4, 2}, {1000, 30, 30}, {3, 3, 1}, {50, 1, 25}} {
		const draws = 20_000
		none := 0
		for range draws {
			found := false
			for _, k := range rng.Perm(int(tt.tasks))[:tt.checks] {
				found = found || uint64(k) < tt.wrong
			}
			if !found {
				none++
			}
		}
		got, want := Unnoticed(tt.tasks, tt.checks, tt.wrong), float64(none)/draws
		if math.Abs(got-want) > .015 {
			t.Errorf("%+v: %.4f by the formula, %.4f of %d draws", tt, got, want, draws)
		}
	}
	if Unnoticed(10, 3, 0) != 1 || Unnoticed(10, 10, 1) != 0 || Unnoticed(10, 0, 5) != 1 {
		t.Error("wrong at the ends")
	}
}

func TestChecksAreAtLeastTheSample(t *testing.T) {
	for _, tt := range []struct {
		tasks uint64
		share float64
		want  uint64
	}{{1, .03, 1}, {3, .03, 3}, {12, .03, 4}, {100, .03, 10}, {1000, .03, 30}, {1001, .03, 31}, {100, 1, 100}} {
		if got := Checks(tt.tasks, tt.share); got != tt.want {
			t.Errorf("%d of %d tasks are checked at %g, want %d", got, tt.tasks, tt.share, tt.want)
		}
	}
}
