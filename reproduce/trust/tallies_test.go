package trust

import (
	"fmt"
	"testing"

	"godwit/credibility"
)

// TestComputedTallies: what submitters audit that tell each other, in percent of an honest worker's tasks,
// by the formulas.
func TestComputedTallies(t *testing.T) {
	for what, tt := range map[string]struct {
		pool        int
		times, more float64
		want        string
	}{
		"open, alone":                {0, 0, 0, "[90 71 37 15]"},
		"open, with another":         {0, 1, 0, "[81 53 21 8.9]"},
		"open, with seven":           {0, 7, 0, "[81 53 21 8.9]"},
		"open, who comes later":      {0, 0, 300, "[81 53 21 8.9]"},
		"invited, alone":             {1, 0, 0, "[35 13 4.5 2.2]"},
		"invited, with another":      {1, 1, 0, "[19 6.9 2.8 1.6]"},
		"invited, with seven":        {1, 7, 0, "[9.9 4 1.9 1.3]"},
		"invited, who comes later":   {1, 0, 300, "[1 1 1 1]"},
		"invited, praised by a word": {1, 0, 1e-3, "[35 13 4.5 2.2]"},
	} {
		p := tallyPools[tt.pool]
		var got []string
		for _, n := range []int{10, 30, 100, 300} {
			got = append(got, fmt.Sprintf("%.2g", 100*expectedWith(p.terms, p.bonus, tt.times, tt.more, n)/float64(n)))
		}
		if fmt.Sprint(got) != tt.want {
			t.Errorf("%s: %v, want %s", what, got, tt.want)
		}
	}
}

// TestLiarsAmong: what lying tellers are computed to change is what they do.
func TestLiarsAmong(t *testing.T) {
	audited := func(lie liars) int { return circle(openPool, 0, 1, 30, lie, rng(1))[0].audited }
	alone, nothing, right := audited(liars{}), audited(liars{7, 0}), audited(liars{7, 1})
	if diff := alone - nothing; diff < -intervals || diff > intervals || right > alone*8/10 {
		t.Errorf("audited are %d intervals, %d if liars show nothing right, %d if they do", alone, nothing, right)
	}
}

// In a circle each hears all others and not itself, and a liar that is praised without measure is looked
// at no less than the bound says.
func TestCircle(t *testing.T) {
	all := circle(openPool, 0, 3, 40, liars{}, rng(1))
	for i, a := range all {
		sum := 0.0
		for _, p := range a.told() {
			sum += p.Right
		}
		others := 0.0
		for k, other := range all {
			if k != i {
				others += other.credit.Right(met)
			}
		}
		if len(a.told()) != 2 || sum != others || a.done != 40 {
			t.Errorf("%d is told %g by %d, want %g", i, sum, len(a.told()), others)
		}
	}
	audited := func(bonus float64) (n int) {
		for seed := range uint64(50) {
			n += praised(openPool, bonus, honest, 1, 1e12, rng(seed)).audited
		}
		return n
	}
	alone, told := audited(0), audited(credibility.Hearsay)
	if most := 50 * intervals; alone < most*95/100 || told > most*85/100 {
		t.Errorf("of %d intervals of first tasks %d are audited without a bonus, %d with one", most, alone, told)
	}
}
