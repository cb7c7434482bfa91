package predictor

import (
	"cmp"
	"slices"
)

// productLimit is the Kaplan-Meier estimate of a sojourn's survival to ms. It
// sorts all. A sojourn cut off at a length was still there when one ended at it.
func productLimit(all []sojourn, ms int64) float64 {
	slices.SortFunc(all, func(a, b sojourn) int {
		if c := cmp.Compare(a.length, b.length); c != 0 {
			return c
		}
		if a.exit == b.exit {
			return 0
		}
		if a.exit {
			return -1
		}
		return 1
	})
	s := 1.0
	for i, j := range all {
		if j.exit && j.length < ms {
			s *= 1 - 1/float64(len(all)-i)
		}
	}
	return s
}
