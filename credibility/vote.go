package credibility

import "math"

// Vote weighs what several workers came to that have nothing to do with each other. Each group are
// those who came to the same, by the chance of each to be wrong. It returns which group is most
// likely right, the first of several, and the chance that it is not: this group right and all
// others wrong, among all groups in its place, and all workers wrong (Sarmenta 2001, section 4). Of
// one group of two that chance is Agreeing. There is at least one group, none empty.
func Vote(groups [][]float64) (best int, doubt float64) {
	// log odds of a group against all wrong: each worker in it adds ln((1-e)/e)
	odds := make([]float64, len(groups))
	for k, g := range groups {
		for _, e := range g {
			e = min(max(e, leastDoubt), 1-leastDoubt)
			odds[k] += math.Log((1 - e) / e)
		}
		if odds[k] > odds[best] {
			best = k
		}
	}
	wrong := math.Exp(-odds[best]) // all are
	for k := range odds {
		if k != best {
			wrong += math.Exp(odds[k] - odds[best])
		}
	}
	return best, wrong / (1 + wrong)
}

// leastDoubt is the least chance to be wrong that a vote goes by: no vote is beyond doubt.
const leastDoubt = 1e-12
