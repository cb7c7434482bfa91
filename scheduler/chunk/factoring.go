package chunk

import (
	"math"
	"time"

	"godwit/internal/spec"
)

func init() {
	Register("factoring", Kind{"cv", "factoring: batches of half of what remains, in equal chunks for all slots",
		func(ps *spec.Params, j Job) Policy {
			return &factoring{pool: pool{job: j}, cv: ps.Number("cv", rule2, 0, maxCV)}
		}})
	Register("wf", Kind{"", "weighted factoring: batches of half of what remains, in chunks by the speeds that are told",
		func(_ *spec.Params, j Job) Policy {
			return &weighted{pool: pool{job: j}}
		}})
}

const (
	rule2 = -1   // no cv is given
	maxCV = 1000 // far more than runs of one program differ
)

// factoring is that of S. F. Hummel, E. Schonberg and L. E. Flynn, "Factoring: a method
// for scheduling parallel loops", Comm. ACM 35(8), 1992: runs go in batches of P chunks,
// each ceil(R/(x P)) of the R that remain when the batch begins. Where nothing is known
// of runs' times x is 2 (its section "Choosing the factors"). With their coefficient of
// variation cv it is, in batch j,
//
//	b_j = P cv / (2 sqrt(R_j)),  x_0 = 1 + b_0^2 + b_0 sqrt(b_0^2 + 2),
//	x_j = 2 + b_j^2 + b_j sqrt(b_j^2 + 4)
//
// A member with several slots takes as many chunks of the batch together.
type factoring struct {
	pool
	cv    float64
	batch batch
	begun bool // the first batch has
}

// A batch is what is left of one: chunks, in slots, and how many runs a slot gets.
type batch struct {
	slots  int64
	each   float64
	remain int64 // when it began
}

// Size implements Policy.
func (p *factoring) Size(now time.Time, n Node, ask Ask) (int, Reason) {
	m := p.at(n)
	if p.batch.slots <= 0 {
		p.batch = batch{p.slots, float64(ask.Remaining) / (p.factor(float64(ask.Remaining)) * float64(p.slots)),
			ask.Remaining}
		p.begun = true
	}
	p.batch.slots -= int64(m.slots)
	return p.give(now, n, max(1, ceil(p.batch.each*float64(m.slots))), ask),
		because("%.4g for each slot, of a batch made when %g remained", p.batch.each, float64(p.batch.remain))
}

func (p *factoring) factor(remain float64) float64 {
	if p.cv < 0 || remain <= 0 {
		return 2
	}
	b := float64(p.slots) * p.cv / (2 * math.Sqrt(remain))
	if !p.begun {
		return 1 + b*b + b*math.Sqrt(b*b+2)
	}
	return 2 + b*b + b*math.Sqrt(b*b+4)
}

// weighted is weighted factoring (S. F. Hummel, J. Schmidt, R. N. Uma and J. Wein,
// "Load-sharing in heterogeneous systems via weighted factoring", SPAA 1996): factoring
// whose chunks are by members' weights, ceil(w_i R/(2P)) with the sum of w_i = P. A
// weight is slots times the speed that is told, and stays.
type weighted struct {
	pool
	sum   float64 // of weights
	batch batch
}

func (p *weighted) weight(n Node) float64 {
	m := p.at(n)
	return float64(m.slots) * m.speed
}

// Join implements Policy.
func (p *weighted) Join(m Member) Node {
	n := p.pool.Join(m)
	p.sum += p.weight(n)
	return n
}

// Leave implements Policy.
func (p *weighted) Leave(n Node) {
	p.sum -= p.weight(n)
	p.pool.Leave(n)
	if p.here == 0 {
		p.sum = 0 // and its rounding
	}
}

// Size implements Policy.
func (p *weighted) Size(now time.Time, n Node, ask Ask) (int, Reason) {
	m := p.at(n)
	if p.batch.slots <= 0 {
		p.batch = batch{p.slots, float64(ask.Remaining) / (2 * p.sum), ask.Remaining}
	}
	p.batch.slots -= int64(m.slots)
	w := p.weight(n)
	return p.give(now, n, max(1, ceil(p.batch.each*w)),
		ask), because("its weight of %.3g, of a batch made when %g remained", w, float64(p.batch.remain))
}
