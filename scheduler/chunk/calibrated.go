package chunk

import (
	"math"
	"time"

	"godwit/internal/spec"
)

func init() {
	Register("calibrated", Kind{"fit reassess", "calibrated farm: a run each, then installments by the times of those",
		func(ps *spec.Params, j Job) Policy {
			p := &calibrated{fit: ps.Choice("fit", fits[:]...), reassess: ps.Choice("reassess", "off", "on") == 1}
			p.job = j
			return p
		}})
}

// fits names the calibrations: measured times, and the regressions of Eqs 2.2 and 2.3.
var fits = [...]string{"times", "univariate", "multivariate"}

// calibrated is the farm of Gonzalez-Velez and Cole as the thesis runs it (its section
// 2.5.3, Eqs 2.1 and 2.4-2.6), with times alone. Every member does one run, and all are
// waited for; then each gets, as often as it is idle,
//
//	alpha_i = floor(S/k F_i + 1/2),  F_i = (1/t_i) / sum_j (1/t_j)
//	k = (ln S)^CV,  CV = the standard deviation of t over its mean
//
// of S runs, those of the calibration among them. The formula of k could also be read
// as ln(S^CV); but then equal members would have k = 0, no round at all. With reassess
// t_i is of the member's last chunk.
//
// A regression replaces the measured times in F with fitted times (see regression). CV is always
// computed from measured times.
type calibrated struct {
	pool
	fit      int // place in fits
	reassess bool
	known    []regressors // by Node
	line     regression
	fitted   float64 // sum of 1/t over all measured members, with fitted times
	unfitted int     // number of measurements since the last regression
	open     bool    // the calibration is over
	n        int     // measured
	sum, sq  float64 // of t, and of its square, over them
	inverse  float64 // of 1/t
	changes  int
}

// Done implements Policy.
func (p *calibrated) Done(now time.Time, n Node, runs int, elapsed time.Duration) {
	of, took, measured := p.done(now, n, runs, elapsed)
	if m := p.at(n); measured && (m.npp == 0 || p.reassess) {
		p.unfitted++
		p.count(m.npp, -1)
		m.npp = float64(of) / took.Seconds()
		p.count(m.npp, 1)
		p.changed()
	}
}

// count adds a member of that power to the sums, or takes it away.
func (p *calibrated) count(power float64, by int) {
	if power > 0 {
		f := float64(by)
		p.n += by
		p.sum += f / power
		p.sq += f / (power * power)
		p.inverse += f * power
	}
}

// changed makes the sums anew when there were as many changes as there are members.
func (p *calibrated) changed() {
	if p.changes++; p.changes <= len(p.members) {
		return
	}
	p.changes, p.n, p.sum, p.sq, p.inverse = 0, 0, 0, 0, 0
	for i := range p.members {
		p.count(p.members[i].npp, 1)
	}
}

// Join implements Policy.
func (p *calibrated) Join(m Member) Node {
	n := p.pool.Join(m)
	if int(n) == len(p.known) {
		p.known = append(p.known, regressors{})
	}
	part := m.Available
	if !(part > 0 && part <= 1) {
		part = 1
	}
	p.known[n] = regressors{part * p.members[n].speed, max(0, m.Latency).Seconds()}
	return n
}

// Leave implements Policy.
func (p *calibrated) Leave(n Node) {
	if p.at(n).npp > 0 {
		p.unfitted++
	}
	p.count(p.at(n).npp, -1)
	p.pool.Leave(n)
	p.changed()
}

// installments returns k.
func (p *calibrated) installments() float64 {
	mean := p.sum / float64(p.n)
	cv := math.Sqrt(max(0, p.sq/float64(p.n)-mean*mean)) / mean
	// Below e the logarithm is less than 1, and there would be less than one round.
	return math.Pow(max(1, math.Log(float64(p.job.Runs))), cv)
}

// Size implements Policy.
func (p *calibrated) Size(now time.Time, n Node, ask Ask) (int, Reason) {
	m := p.at(n)
	switch {
	case !m.served:
		return p.give(now, n, 1, ask), because("its run for calibration")
	case !p.open && p.out > 0:
		return 0, because("calibration: %g runs are still out", float64(p.out))
	case m.npp == 0:
		return p.give(now, n, 1, ask), because("its run for calibration, again: the first was not timed")
	}
	p.open = true
	k := p.installments()
	f, how := p.fitness(n)
	want := floor(float64(p.job.Runs)/k*f + 0.5)
	return p.give(now, n, want, ask), because(how, f, k)
}

// fitness returns the member's share (F) and the format of the chunk's reason.
func (p *calibrated) fitness(n Node) (f float64, reason string) {
	m := &p.members[n]
	const measured = "an installment: a share of %.3g of the job, in %.3g rounds"
	if p.fit == 0 {
		return m.npp / p.inverse, measured
	}
	if p.unfitted > len(p.members)/refits {
		p.regress()
	}
	if !p.line.known {
		return m.npp / p.inverse, measured + ", by measured times: no regressor differs between members"
	}
	x := 1 / p.line.time(p.known[n])
	return x / max(p.fitted, x), measured + ", by fitted times"
}
