package credibility

import "math"

// Checks returns the number of a job's tasks that are checked at least: share of them, and never less than the least
// sample.
func Checks(tasks uint64, share float64) uint64 {
	return min(tasks, max(uint64(math.Ceil(share*float64(tasks))), Sample(tasks)))
}

// Unnoticed returns the chance that none of the checks of a job finds a wrong result, if wrong of its tasks have one:
// the checks are drawn at random, without replacement, after all results are signed. It is the product of
// 1 - wrong/(tasks - i) over the checks.
func Unnoticed(tasks, checks, wrong uint64) float64 {
	if wrong == 0 {
		return 1
	}
	p := 1.
	for i := range min(checks, tasks) {
		if left := tasks - i; left <= wrong {
			return 0
		} else if p *= 1 - float64(wrong)/float64(left); p < leastDoubt {
			return 0
		}
	}
	return p
}
