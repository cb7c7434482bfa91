package chunk

import (
	"time"

	"godwit/internal/spec"
)

// defaultRounds is the number of rounds of the thesis's worked example (section 3.1).
// The best number grows with the runs: 2 to 20 in its section 5.2.2.1.
const defaultRounds = 3

// mostRounds bounds rounds: with more a round of any sweep is less than a run.
const mostRounds = 1 << 20

func init() {
	Register("amrs", Kind{"rounds", "Sim-PETEK's adaptive multi-round synchronous scheduler: all wait for the last of " +
		"each round", func(ps *spec.Params, j Job) Policy {
		p := &amrs{budget: perRound(ps, j), round: 1}
		p.job = j
		return p
	}})
	Register("amra", Kind{"rounds", "Sim-PETEK's adaptive multi-round asynchronous scheduler: whoever is idle gets its " +
		"share of a round", func(ps *spec.Params, j Job) Policy {
		p := &amra{budget: perRound(ps, j)}
		p.job, p.gated = j, true
		return p
	}})
}

// perRound reads how many rounds there are, and returns the runs of one.
func perRound(ps *spec.Params, j Job) float64 {
	return float64(j.Runs) / float64(ps.Integer("rounds", defaultRounds, 1, mostRounds))
}

// amrs is AMRS (section 3.1): in each round every member gets its share of it, rounded
// up (the tables printed are come by in no other way), and all are waited for. A round
// gives more than its budget by that. Members are asked in their order.
type amrs struct {
	learner
	budget float64
	round  int64 // from 1: the one that is open, or the last
	asked  bool  // somebody has been served in it
}

// Size implements Policy.
func (p *amrs) Size(now time.Time, n Node, ask Ask) (int, Reason) {
	m := p.at(n)
	if p.out == 0 && p.asked {
		p.round++
		p.asked = false
		p.update()
	}
	if p.asked && m.round == p.round {
		return 0, because("it had its share of the round, which %g runs are still out of", float64(p.out))
	}
	e := p.ratio(m)
	runs := p.give(now, n, ceil(e*p.budget), ask)
	if runs > 0 {
		m.round, p.asked = p.round, true
	}
	return runs, because("a share of %.3g of the round's %.4g runs, rounded up", e, p.budget)
}

// amra is AMRA (section 3.2): whoever is idle gets its share of a round, rounded up.
// Nobody's ratio changes before all have been measured, so that cores are not weighed
// against runs a second.
type amra struct {
	ranked
	budget float64
}

// Size implements Policy.
func (p *amra) Size(now time.Time, n Node, ask Ask) (int, Reason) {
	m := p.at(n)
	p.update()
	e := p.ratio(m)
	return p.give(now, n, ceil(e*p.budget), ask), because("a share of %.3g of the round's %.4g runs, rounded up", e,
		p.budget)
}
