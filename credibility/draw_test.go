package credibility

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestDrawIsTheSameForEver: others draw again from a key that was published, maybe years
// later, and must draw the same.
func TestDrawIsTheSameForEver(t *testing.T) {
	for _, tt := range []struct {
		task  uint64
		n     int
		share float64
		want  string
	}{
		{0, 24, .125, "[1 2 19]"}, {1, 24, .125, "[9 11 14]"},
		{0, 24, .03, "[19]"}, {7, 1, .5, "[]"},
		{9, 32, 1. / 3, "[2 5 6 7 9 15 19 21 23 28 31]"},
	} {
		key, root := [32]byte{1, 2, 3}, [32]byte{31: 9}
		if got := fmt.Sprint(Draw(key, tt.task, root, tt.n, tt.share)); got != tt.want {
			t.Errorf("task %d: %s of %d, want %s", tt.task, got, tt.n, tt.want)
		}
	}
}

func TestDrawProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var key, root [32]byte
		copy(key[:], rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "key"))
		copy(root[:], rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "root"))
		task := rapid.Uint64().Draw(t, "task")
		n := rapid.IntRange(-1, 40).Draw(t, "n")
		share := rapid.Float64Range(-.5, 1.5).Draw(t, "share")
		got := Draw(key, task, root, n, share)
		want := min(max(share, 0), 1) * float64(max(n, 0))
		if float64(len(got)) < math.Floor(want) || float64(len(got)) > math.Ceil(want) {
			t.Fatalf("%d of %d are audited, %g is to be", len(got), n, want)
		}
		if !slices.IsSorted(got) || len(slices.Compact(slices.Clone(got))) != len(got) {
			t.Fatalf("%v: not ascending", got)
		}
		if len(got) > 0 && (got[0] < 0 || got[len(got)-1] >= n) {
			t.Fatalf("%v: not of %d", got, n)
		}
		if !slices.Equal(got, Draw(key, task, root, n, share)) {
			t.Fatal("drawn again it differs")
		}
	})
}

// Each interval is drawn as often as any other, and in all as many as the share says:
// within five standard deviations.
func TestDrawIsFair(t *testing.T) {
	const tasks, n, share = 20_000, 24, .13
	var hits [n]float64
	sum := 0.0
	for task := range uint64(tasks) {
		for _, i := range Draw([32]byte{7}, task, [32]byte{8}, n, share) {
			hits[i]++
			sum++
		}
	}
	if sigma := math.Sqrt(tasks * .25); math.Abs(sum-tasks*n*share) > 5*sigma {
		t.Errorf("%g audits, want about %g", sum, tasks*n*share)
	}
	for i, h := range hits {
		if sigma := math.Sqrt(tasks * share * (1 - share)); math.Abs(h-tasks*share) > 5*sigma {
			t.Errorf("interval %d is audited %g times, want about %g", i, h, tasks*share)
		}
	}
}

// Who does not know the key learns nothing from other draws: another key, task or root draws
// otherwise.
func TestDrawsDiffer(t *testing.T) {
	base := Draw([32]byte{1}, 1, [32]byte{1}, 1000, .1)
	for what, other := range map[string][]int{
		"key": Draw([32]byte{2}, 1, [32]byte{1}, 1000, .1), "task": Draw([32]byte{1}, 2, [32]byte{1}, 1000, .1),
		"root": Draw([32]byte{1}, 1, [32]byte{2}, 1000, .1),
	} {
		common := 0
		for _, i := range other {
			if slices.Contains(base, i) {
				common++
			}
		}
		const most = 30 // of 100, where 10 are common by chance
		if common > most {
			t.Errorf("with another %s %d of 100 are the same", what, common)
		}
	}
}

// A lot says what a draw of whole tasks does.
func TestLotIsTheDraw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var key, root [32]byte
		copy(key[:], rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "key"))
		task, share := rapid.Uint64().Draw(t, "task"), rapid.Float64Range(0, 1).Draw(t, "share")
		if drawn := len(Draw(key, task, root, 1, share)) > 0; drawn != (Lot(key, task, root) < share) {
			t.Fatalf("drawn: %v, the lot is %g", drawn, Lot(key, task, root))
		}
	})
}

// TestPick: those who are picked are allowed, each once, and as many as there are; each as often as any
// other; and others with another key.
func TestPick(t *testing.T) {
	const n, k, draws = 20, 3, 20_000
	odd := func(i int) bool { return i%2 == 1 }
	var hits [n]float64
	for task := range uint64(draws) {
		got := Pick([32]byte{7}, task, [32]byte{8}, n, k, odd)
		if len(got) != k || got[0] == got[1] || got[1] == got[2] || got[0] == got[2] {
			t.Fatalf("%v", got)
		}
		for _, i := range got {
			hits[i]++
		}
	}
	const each = draws * k / (n / 2)
	for i, h := range hits {
		if want := map[bool]float64{true: each}[odd(i)]; math.Abs(h-want) > 5*math.Sqrt(want) {
			t.Errorf("%d is picked %g times, want %g", i, h, want)
		}
	}
	all := Pick([32]byte{1}, 1, [32]byte{1}, n, 2*n, odd)
	if slices.Sort(all); len(all) != n/2 || len(slices.Compact(all)) != n/2 {
		t.Errorf("of ten that are allowed %v are picked", all)
	}
	a, b := Pick([32]byte{1}, 1, [32]byte{1}, 1000, 9, odd), Pick([32]byte{2}, 1, [32]byte{1}, 1000, 9, odd)
	if slices.Equal(a, b) || !slices.Equal(a, Pick([32]byte{1}, 1, [32]byte{1}, 1000, 9, odd)) {
		t.Errorf("%v with one key, %v with another", a, b)
	}
}
