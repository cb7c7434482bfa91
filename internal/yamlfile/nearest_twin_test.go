package yamlfile

import (
	"testing"

	"pgregory.net/rapid"
)

// dumbDistance is the optimal string alignment by its definition.
func dumbDistance(a, b string) int {
	switch {
	case a == "":
		return len(b)
	case b == "":
		return len(a)
	}
	cost := 1
	if a[len(a)-1] == b[len(b)-1] {
		cost = 0
	}
	d := min(dumbDistance(a[:len(a)-1], b[:len(b)-1])+cost, dumbDistance(a[:len(a)-1], b)+1,
		dumbDistance(a, b[:len(b)-1])+1)
	if n, m := len(a), len(b); n > 1 && m > 1 && a[n-1] == b[m-2] && a[n-2] == b[m-1] {
		d = min(d, dumbDistance(a[:n-2], b[:m-2])+1)
	}
	return d
}

// TestDistancesAgree with the definition, and are the same both ways.
func TestDistancesAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.StringMatching("[abc]{0,6}").Draw(t, "a"), rapid.StringMatching("[abc]{0,6}").Draw(t, "b")
		if got, want := distance(a, b), dumbDistance(a, b); got != want || distance(b, a) != got {
			t.Fatalf("%q to %q: %d, want %d", a, b, got, want)
		}
	})
}
