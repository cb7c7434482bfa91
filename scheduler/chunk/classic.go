package chunk

import (
	"math/bits"
	"time"

	"godwit/internal/spec"
)

func init() {
	Register("one", Kind{"k", "self-scheduling: k runs for each slot, by default one, as often as it asks",
		func(ps *spec.Params, j Job) Policy {
			return &one{pool{job: j}, int64(ps.Integer("k", 1, 1, MaxChunk))}
		}})
	Register("static", Kind{"", "static scheduling: all runs at once, as many for each slot",
		func(_ *spec.Params, j Job) Policy {
			return &static{pool: pool{job: j}}
		}})
	Register("gss", Kind{"least", "guided self-scheduling: each slot's part of what remains",
		func(ps *spec.Params, j Job) Policy {
			return &gss{pool{job: j}, readLeast(ps)}
		}})
}

// readLeast reads the fewest runs of a slot's chunk.
func readLeast(ps *spec.Params) int64 { return int64(ps.Integer("least", 1, 1, MaxChunk)) }

// one is self-scheduling: the next run to whoever is idle (P. Tang and P.-C. Yew,
// "Processor self-scheduling for multiple-nested parallel loops", ICPP 1986), with k
// above 1 chunk self-scheduling (C. P. Kruskal and A. Weiss, "Allocating independent
// subtasks on parallel processors", IEEE Trans. Software Eng. SE-11(10), 1985).
type one struct {
	pool
	k int64
}

// Size implements Policy.
func (p *one) Size(now time.Time, n Node, ask Ask) (int, Reason) {
	return p.give(now, n, p.k*p.atOnce(p.at(n)), ask), because("%g for each of its slots, whatever remains", float64(p.k))
}

// static gives each slot its N/P of the N runs at once, rounded up. What comes back, and
// what is there for members that come later, is divided so again among all who ask.
type static struct {
	pool
	round    int64
	unserved int64 // slots of those not served in this round; valid with round > 0
}

// Join implements Policy.
func (p *static) Join(m Member) Node {
	n := p.pool.Join(m)
	p.members[n].round = -1
	p.unserved += int64(p.members[n].slots)
	return n
}

// Leave implements Policy.
func (p *static) Leave(n Node) {
	if m := p.at(n); m.round != p.round {
		p.unserved -= int64(m.slots)
	}
	p.pool.Leave(n)
}

// Size implements Policy.
func (p *static) Size(now time.Time, n Node, ask Ask) (int, Reason) {
	m := p.at(n)
	if ask.Remaining <= 0 {
		return 0, Reason{}
	}
	if m.round == p.round {
		p.round++
		p.unserved = p.slots
	}
	want := part(ask.Remaining, int64(m.slots), p.unserved)
	m.round = p.round
	p.unserved -= int64(m.slots)
	return p.give(now, n, want, ask), because("its slots' part of the %g runs that remain, among those not served yet",
		float64(ask.Remaining))
}

// gss is guided self-scheduling: ceil(R/P) of the R runs that remain, for P processors
// (C. D. Polychronopoulos and D. J. Kuck, "Guided self-scheduling: a practical scheduling
// scheme for parallel supercomputers", IEEE Trans. Computers C-36(12), 1987, section 3);
// with least above 1 its GSS(k).
type gss struct {
	pool
	least int64
}

// Size implements Policy.
func (p *gss) Size(now time.Time, n Node, ask Ask) (int, Reason) {
	m := p.at(n)
	want := max(part(ask.Remaining, int64(m.slots), p.slots), p.least*p.atOnce(m))
	return p.give(now, n, want, ask), because("its slots' part of the %g runs that remain", float64(ask.Remaining))
}

// part returns ceil(runs * of / all), of at most all.
func part(runs, of, all int64) int64 {
	if runs <= 0 || of <= 0 {
		return 0
	}
	hi, lo := bits.Mul64(uint64(runs), uint64(of))
	q, rest := bits.Div64(hi, lo, uint64(max(all, of)))
	if rest > 0 {
		q++
	}
	return int64(q)
}
