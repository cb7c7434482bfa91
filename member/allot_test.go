package member

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestAllot(t *testing.T) {
	on := func(share float64) claim { return claim{share: share, busy: true} }
	off := func(share float64) claim { return claim{share: share} }
	late := func(share float64, turns int64) claim { return claim{share, true, turns} }
	for _, tt := range []struct {
		name   string
		slots  int
		claims []claim
		want   string
	}{
		{"nobody is there", 4, nil, "[]"},
		{"one has all", 4, []claim{on(1)}, "[4]"},
		{"one without work is offered all", 4, []claim{off(1)}, "[4]"},
		{"by shares", 6, []claim{on(2), on(1)}, "[4 2]"},
		{"the larger remainder", 5, []claim{on(2), on(1)}, "[3 2]"},
		{"at least one", 4, []claim{on(1000), on(1)}, "[3 1]"},
		{"at least one, and the rest by shares", 8, []claim{on(40), on(20), on(0.1), on(0.1)}, "[4 2 1 1]"},
		{"what nobody uses", 6, []claim{on(2), off(1)}, "[6 2]"},
		{"nobody works", 6, []claim{off(2), off(1)}, "[6 6]"},
		{"one of three works", 6, []claim{off(1), on(1), off(4)}, "[3 6 5]"},
		{"no share", 4, []claim{on(1), on(0), off(0)}, "[4 0 0]"},
		{"no share at all", 4, []claim{on(0), off(0)}, "[0 0]"},
		{"no slots", 0, []claim{on(1), off(1)}, "[0 0]"},
		{"a negative number of slots", -1, []claim{on(1)}, "[0]"},
		{"too few, all served alike", 2, []claim{on(1), on(5), on(1)}, "[1 1 0]"},
		{"too few, who is served least", 1, []claim{late(5, 3), late(1, 2), late(1, 3)}, "[0 1 0]"},
		{"too few, one without work would be next", 1, []claim{late(1, 3), {share: 1, turns: 2}}, "[1 1]"},
		{"too few, one without work would not be next", 1, []claim{late(1, 2), {share: 1, turns: 3}}, "[1 0]"},
		{"shares of extreme size", 3, []claim{on(1e300), on(1e-300), on(1e308)}, "[1 1 1]"},
		{"thirds", 3, []claim{on(0.1), on(0.1), on(0.1)}, "[1 1 1]"},
	} {
		if got := fmt.Sprint(allot(tt.slots, tt.claims)); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
}

// What overlays with work get is all there is and no more; each with a share gets
// something while there is enough, and what is its due to within a slot of those
// whose due is more than one.
func TestAllotProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		slots := rapid.IntRange(0, 300).Draw(t, "slots")
		claims := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) claim {
			share := rapid.OneOf(rapid.Just(0.0),
				rapid.Map(rapid.IntRange(1, 1_000_000), func(i int) float64 { return float64(i) }),
				rapid.Float64Range(1e-9, 1e9)).Draw(t, "share")
			return claim{share, rapid.Bool().Draw(t, "busy"), rapid.Int64Range(0, 5).Draw(t, "turns")}
		}), 0, 16).Draw(t, "claims")
		out := allot(slots, claims)
		sum, working := 0, 0
		for i, c := range claims {
			if out[i] < 0 || out[i] > slots || c.share == 0 && out[i] != 0 {
				t.Fatalf("%+v gets %d of %d", c, out[i], slots)
			}
			if c.busy && c.share > 0 {
				sum, working = sum+out[i], working+1
			}
		}
		if working > 0 && sum != slots {
			t.Fatalf("those with work get %d of %d: %v", sum, slots, out)
		}
		large, left := 0.0, float64(slots) // of those who get more than the one that each gets
		for i, c := range claims {
			if !c.busy || c.share == 0 {
				continue
			}
			if out[i] == 0 && working <= slots {
				t.Fatalf("%+v gets nothing of %d: %v", c, slots, out)
			}
			if out[i] > 1 {
				large += c.share
			} else {
				left--
			}
		}
		for i, c := range claims {
			if !c.busy || c.share == 0 {
				all := slices.Clone(claims)
				all[i].busy = true
				if out[i] != allot(slots, all)[i] {
					t.Fatalf("overlay %d without work is offered %d, with work it would get %d", i, out[i], allot(slots, all)[i])
				}
				continue
			}
			for k, d := range claims {
				if d.busy && d.share > 0 && c.share >= d.share && out[i] < out[k] && working <= slots && c.share > d.share {
					t.Fatalf("%v gets less than %v: %v", c.share, d.share, out)
				}
			}
			// Those who get one besides may be worth up to one each: with them the
			// due of the others is known to as many slots less.
			if due := left * c.share / large; out[i] > 1 &&
				(float64(out[i]) > due+1.000001 || float64(out[i]) < due-1.000001-float64(working)) {
				t.Fatalf("a share of %v of %v gets %d, its due is %.2f: %v", c.share, large, out[i], due, out)
			}
		}
	})
}
