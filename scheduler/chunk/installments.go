package chunk

import "godwit/internal/spec"

// mostInstallments bounds the rounds of MI, because its plan contains a number for each member and
// round.
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

// huge leaves enough range above it for a product with any cost and speed.
const huge = 1e100

// shares is a plan as a table: shares[k][j-1] is the sum of worker k's installments 1 to j, in an
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
// sends chunks to one worker at a time, round by round. A worker receives its next chunk at the
// moment when it has computed the previous chunk, and all workers end together. Let l be the
// position of a chunk in the order of sending, N the number of workers, n the number of rounds, 1/S
// the time to compute a run and 1/B the time to send a run. Then
//
//	c_l / S_l = (c_{l+1} + ... + c_{l+N}) / B                      before the last round
//	c_l / S_l = (c_{l+1} + ... + c_{Nn}) / B + c_{Nn} / S_{Nn}     in the last round
//
// These equations are solved from the last chunk to the first. The theory does not determine the
// number of rounds.
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
	sent := 1.0 // sum of the chunks sent while chunk l is computed
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
