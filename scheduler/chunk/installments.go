package chunk

import "godwit/internal/spec"

// mostInstallments bounds the rounds that a plan may have. The installments of MI are kept
// for each member.
const mostInstallments = 64

func init() {
	Register("mi", Kind{"rounds transfer",
		"multi-installment: each chunk takes as long to compute as it takes to send the next chunks to all members",
		func(ps *spec.Params, j Job) Policy {
			rounds, transfer := ps.Integer("rounds", defaultRounds, 1, mostInstallments), readTransfer(ps)
			p := &planned{pool: pool{job: j}}
			p.divide = func(workers []worker, runs int64) (division, int64) {
				return installments(workers, rounds, transfer), runs
			}
			return p
		}})
}

// huge is far from the greatest number that a chunk can be multiplied with.
const huge = 1e100

// shares is a plan in full: shares[k][j-1] is what worker k has after installment j, in an
// arbitrary unit.
type shares [][]float64

func (s shares) rounds() int { return len(s[0]) }

func (s shares) through(k, j int) float64 {
	if j <= 0 {
		return 0
	}
	return s[k][j-1]
}

// installments is the multi-installment strategy of divisible-load theory (V. Bharadwaj,
// D. Ghose and V. Mani, "Multi-installment load distribution in tree networks with delays",
// IEEE Trans. Aerospace and Electronic Systems 31(2), 1995), without delays. The source
// sends to one worker at a time, round by round. Chunks are such that a worker has received
// its next chunk when it has computed the one before, and that all workers end together. For
// chunk l of N n, counted in the order of sending, that takes 1/S a run to compute there and
// 1/B a run to send,
//
//	c_l / S_l = (c_{l+1} + ... + c_{l+N}) / B                      before the last round
//	c_l / S_l = (c_{l+1} + ... + c_{Nn}) / B + c_{Nn} / S_{Nn}     in the last round
//
// Both are solved from the last chunk back to the first. The theory does not give a number of
// rounds.
func installments(workers []worker, rounds int, transfer float64) shares {
	n := len(workers)
	flat := make([]float64, n*rounds)
	plan := make(shares, n)
	for k := range plan {
		plan[k] = flat[k*rounds : (k+1)*rounds : (k+1)*rounds]
	}
	at := func(l int) *float64 { return &plan[l%n][l/n] }
	last := n*rounds - 1
	*at(last) = 1
	sent := 1.0 // sum of the chunks that are sent while chunk l is computed
	for l := last - 1; l >= 0; l-- {
		speed := workers[l%n].speed
		c := sent * transfer * speed
		if l > last-n {
			c += speed / workers[n-1].speed
		}
		*at(l) = c
		sent += c
		if l+n <= last {
			sent -= *at(l + n)
		}
		sent = max(sent, c) // rounding
		if sent > huge {    // the unit is arbitrary
			for i := range flat {
				flat[i] /= huge
			}
			sent /= huge
		}
	}
	for _, of := range plan {
		for j := 1; j < rounds; j++ {
			of[j] += of[j-1]
		}
	}
	return plan
}
