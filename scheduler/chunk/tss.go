package chunk

import (
	"math"
	"time"

	"godwit/internal/spec"
)

func init() {
	Register("tss", Kind{"first last", "trapezoid self-scheduling: chunks shrink by the same number each",
		func(ps *spec.Params, j Job) Policy {
			return &tss{pool: pool{job: j}, first: int64(ps.Integer("first", 0, 0, MaxChunk)),
				last: int64(ps.Integer("last", 1, 1, MaxChunk))}
		}})
	Register("fsc", Kind{"ratio", "fixed-size chunking: the size that is best for a message's cost over the spread of " +
		"runs' times", func(ps *spec.Params, j Job) Policy {
		return &fsc{pool{job: j}, ps.Number("ratio", 1, 0, MaxChunk)}
	}})
}

// tss is trapezoid self-scheduling (T. H. Tzen and L. M. Ni, "Trapezoid self-scheduling:
// a practical scheduling scheme for parallel compilers", IEEE Trans. Parallel Distrib.
// Syst. 4(1), 1993, section 3): the first chunk has f runs, by default N/(2P), the last
// l, by default 1, and of the C = ceil(2N/(f+l)) chunks each has (f-l)/(C-1) fewer than
// the one before. What remains after the last goes in chunks of l.
//
// P is the number of slots when the first chunk is given. A member with several slots
// takes as many chunks together.
type tss struct {
	pool
	first, last int64 // 0: N/(2P) when the first chunk is given
	size, step  float64
	begun       bool
}

// Size implements Policy.
func (p *tss) Size(now time.Time, n Node, ask Ask) (int, Reason) {
	m := p.at(n)
	if ask.Remaining <= 0 {
		return 0, Reason{}
	}
	if !p.begun {
		p.begin()
	}
	// The chunks that the slots take are first, ..., last of an arithmetic series.
	k := float64(p.atOnce(m))
	first := max(p.size, float64(p.last))
	p.size -= k * p.step
	last := max(p.size+p.step, float64(p.last))
	return p.give(now, n, max(1, floor((first+last)/2*k)), ask),
		because("chunks for %g slots from %.4g runs each, %.3g fewer each time", k, first, p.step)
}

func (p *tss) begin() {
	p.begun = true
	all := float64(p.job.Runs)
	f := float64(p.first)
	if f == 0 {
		f = math.Ceil(all / (2 * float64(p.slots)))
	}
	l := min(float64(p.last), f)
	p.last, p.size = int64(l), f
	if chunks := math.Ceil(2 * all / (f + l)); chunks > 1 {
		p.step = (f - l) / (chunks - 1)
	}
}

// fsc is fixed-size chunking (C. P. Kruskal and A. Weiss, "Allocating independent
// subtasks on parallel processors", IEEE Trans. Software Eng. SE-11(10), 1985, section
// III): with a cost h of each chunk and a standard deviation s of runs' times, the time
// of all is about least with chunks of
//
//	(sqrt(2) N h / (s P sqrt(ln P)))^(2/3)
//
// of N runs on P processors, which are slots here. ratio is h/s. On fewer than two, where the
// formula has no value, it is all runs: chunks only cost then.
type fsc struct {
	pool
	ratio float64
}

// Size implements Policy.
func (p *fsc) Size(now time.Time, n Node, ask Ask) (int, Reason) {
	m := p.at(n)
	all, slots := float64(p.job.Runs), float64(p.slots)
	k := all
	if slots >= 2 {
		k = math.Pow(math.Sqrt2*all*p.ratio/(slots*math.Sqrt(math.Log(slots))), 2.0/3)
		// No chunk is larger than a slot's part of all.
		k = max(1, min(k, math.Ceil(all/slots)))
	}
	return p.give(now, n, floor(k)*p.atOnce(m),
		ask), because("%.4g for each slot, best where a chunk costs %g standard deviations of a run", k, p.ratio)
}
