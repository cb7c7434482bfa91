package chunk

import (
	"time"

	"godwit/internal/spec"
)

func init() {
	Register("awf", Kind{"x", "adaptive weighted factoring: an x-th of what remains by the speeds measured so far",
		func(ps *spec.Params, j Job) Policy {
			return &awf{powers: powers{pool: pool{job: j}}, x: readFactor(ps)}
		}})
}

// readFactor reads what part of the rest goes out at once: 2 is factoring's half.
func readFactor(ps *spec.Params) float64 { return ps.Number("x", 2, 1, 1000) }

// powers estimates what members do in a second.
//
// It is the weighted average performance of I. Banicescu, V. Velusamy and J.
// Devaprasad, "On the scalability of dynamic scheduling scientific applications with
// adaptive weighted factoring", Cluster Computing 6, 2003: the time of a run is
//
//	pi_i = sum_j j t_ij / sum_j j n_ij
//
// over the member's chunks j = 1, 2, ..., of n runs in t each, so that what was measured
// late and large counts more. With aging j is 2^j instead: what is old fades as it does
// in a member that its owner uses again. Weights there are of means of pi; the mean cancels, and
// a share is 1/pi_i over the sum of 1/pi. Of who has not been measured is assumed what
// its slots, at the speed that is told, would do as the others' do in the mean.
//
// Invariants, but for rounding: power is the sum of 1/pi over the measured, known that
// of their weights (slots times speed), all that of everybody's.
type powers struct {
	pool
	aging      bool
	extra      []performance // by Node
	power      float64
	known, all float64
	changes    int
}

// A performance is a member's: the sums of pi, and the number of chunks in them.
type performance struct {
	time, runs float64
	chunks     int
	given      int // runs of the last chunk, as paced keeps them
}

func (m *member) told() float64 { return float64(m.slots) * m.speed }

// Join implements Policy.
func (p *powers) Join(m Member) Node {
	n := p.pool.Join(m)
	for len(p.extra) <= int(n) {
		p.extra = append(p.extra, performance{})
	}
	p.extra[n] = performance{}
	p.all += p.members[n].told()
	p.changed()
	return n
}

// Leave implements Policy.
func (p *powers) Leave(n Node) {
	m := p.at(n)
	p.all -= m.told()
	if m.npp > 0 {
		p.known -= m.told()
		p.power -= m.npp
	}
	p.pool.Leave(n)
	p.changed()
}

// Done implements Policy.
func (p *powers) Done(now time.Time, n Node, runs int, elapsed time.Duration) {
	of, took, measured := p.done(now, n, runs, elapsed)
	if !measured {
		return
	}
	m, e := p.at(n), &p.extra[n]
	if m.npp == 0 {
		p.known += m.told()
	}
	if e.chunks++; p.aging {
		e.time = (1-learning)*e.time + learning*took.Seconds()
		e.runs = (1-learning)*e.runs + learning*float64(of)
	} else {
		e.time += float64(e.chunks) * took.Seconds()
		e.runs += float64(e.chunks) * float64(of)
	}
	p.power += e.runs/e.time - m.npp
	m.npp = e.runs / e.time
	p.changed()
}

// changed makes the sums anew when there were as many changes as there are members: a
// change takes the same time in the mean, and no rounding adds up.
func (p *powers) changed() {
	if p.changes++; p.changes <= len(p.members) {
		return
	}
	p.changes, p.power, p.known, p.all = 0, 0, 0, 0
	for i := range p.members {
		m := &p.members[i]
		if !m.here {
			continue
		}
		p.all += m.told()
		if m.npp > 0 {
			p.known += m.told()
			p.power += m.npp
		}
	}
}

// total returns what all do in a second; 0 if nobody has been measured.
func (p *powers) total() float64 {
	if !(p.known > 0) {
		return 0
	}
	return p.power + p.power/p.known*(p.all-p.known)
}

// share returns the member's part of what all do in a time.
func (p *powers) share(m *member) float64 {
	switch {
	case !(p.known > 0):
		return m.told() / p.all
	case m.npp > 0:
		return m.npp / p.total()
	}
	return m.told() * p.power / p.known / p.total()
}

// Rank implements Ranker.
func (p *powers) Rank(n Node) float64 { return p.at(n).npp }

// awf is adaptive weighted factoring whose weights are made anew after each chunk, and
// whose chunks are of what remains at that time: AWF-C of R. L. Cariño and I. Banicescu,
// "Dynamic load balancing with adaptive factoring methods in scientific applications",
// J. Supercomputing 44, 2008.
type awf struct {
	powers
	x float64
}

// Size implements Policy.
func (p *awf) Size(now time.Time, n Node, ask Ask) (int, Reason) {
	m := p.at(n)
	share := p.share(m)
	want := max(1, ceil(float64(ask.Remaining)*share/p.x))
	return p.give(now, n, want, ask), because("it does %.3g of what all do, of 1/%g of the %.4g runs that remain", share,
		p.x, float64(ask.Remaining))
}
