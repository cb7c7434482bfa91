package chunk

import (
	"time"

	"godwit/internal/spec"
)

func init() {
	Register("samra", Kind{"rounds threshold least",
		"Sim-PETEK's smart AMRA: a probe first, then chunks that fill the slots to the last",
		func(ps *spec.Params, j Job) Policy {
			p := &samra{budget: perRound(ps, j)}
			p.job, p.gated, p.threshold, p.least = j, true, readThreshold(ps), readFewest(ps)
			return p
		}})
}

// A smart learner gives chunks that fill the slots, and leaves out members whose share
// is below the threshold.
type smart struct {
	ranked
	threshold float64
	least     int64 // runs of a chunk, however small the share
}

// readThreshold reads T of the pseudocode of SAMRA, SSSE and ISSSE. The thesis gives
// it no value: 0, nobody is left out.
func readThreshold(ps *spec.Params) float64 { return ps.Number("threshold", 0, 0, 1) }

// readFewest reads the fewest runs of a chunk. The thesis does not say what becomes of a
// share of less than half a run. By its worked example (section 3.3.2) it is no chunk:
// the default, 0, by which slow members wait while runs remain if rounds are of few
// runs. With 1 they do not.
func readFewest(ps *spec.Params) int64 { return int64(ps.Integer("least", 0, 0, MaxChunk)) }

// share returns the member's chunk of a round of so many runs (Fig 3.8): the share, less
// what would leave slots empty at the end of the chunk. A smaller one than fills the
// slots once is rounded to the next number, but down where one run fills them (the
// trace printed in section 3.3.1 has both).
func (s *smart) share(m *member, budget float64) (int64, Reason) {
	e := s.ratio(m)
	if e < s.threshold {
		return 0, because("its share of %.3g is below the threshold of %g", e, s.threshold)
	}
	x, q := e*budget, s.quantum(m)
	if x > float64(q) || q == 1 {
		return max(s.least, floor(x/float64(q))*q),
			because("a share of %.3g of the round's %.4g runs, down to a multiple of the %g that fill its slots", e, budget,
				float64(q))
	}
	return max(s.least, floor(x+0.5)), because("a share of %.3g of the round's %.4g runs", e, budget)
}

// samra is SAMRA (section 3.3.1): AMRA with a probe, of the fewest runs that fill the
// slots, as everybody's first chunk.
type samra struct {
	smart
	budget float64
}

// Size implements Policy.
func (p *samra) Size(now time.Time, n Node, ask Ask) (int, Reason) {
	m := p.at(n)
	p.update()
	if !m.served {
		q := p.quantum(m)
		return p.give(now, n, q, ask), because("a probe: the first %g that fill its slots", float64(q))
	}
	want, why := p.share(m, p.budget)
	return p.give(now, n, want, ask), why
}
