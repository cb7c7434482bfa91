package chunk

import "math"

// refits limits the cost of regressions in large pools: a regression follows len(members)/refits new
// measurements.
const refits = 16

// regressors are the explanatory variables of a member's time for a run.
type regressors struct {
	processor float64 // a': available part of the processor times the reported speed
	latency   float64 // l: round-trip time in seconds
}

// A regression is the statistical calibration of Gonzalez-Velez and Cole in the thesis's notation
// (section 2.5.3), by least squares over all measured members:
//
//	univariate    t = c0 + c1 a'           (2.2)
//	multivariate  t = c0 + c1 l + c2 a'    (2.3)
//
// The thesis prints a'^2 in (2.3). The 2 is read as a footnote mark, because (2.2) is then the same
// model without the network. A fitted time is never below the least measured time. Constant and
// collinear regressors are omitted.
type regression struct {
	known bool // at least one regressor differs between members
	c     [3]float64
	least float64
}

// time returns the fitted time of a run, in seconds.
func (r *regression) time(x regressors) float64 {
	return max(r.least, r.c[0]+r.c[1]*x.latency+r.c[2]*x.processor)
}

// collinear is the relative tolerance below which a variance or a determinant counts as 0.
const collinear = 1e-9

// regress fits the times of all measured members.
func (p *calibrated) regress() {
	p.unfitted, p.fitted, p.line = 0, 0, regression{least: math.Inf(1)}
	var n, t, l, a float64
	for i := range p.members {
		if m := &p.members[i]; m.npp > 0 {
			n, t, l, a = n+1, t+1/m.npp, l+p.known[i].latency, a+p.known[i].processor
			p.line.least = min(p.line.least, 1/m.npp)
		}
	}
	if n == 0 {
		return
	}
	t, l, a = t/n, l/n, a/n
	var ll, la, aa, lt, at float64
	for i := range p.members {
		if m := &p.members[i]; m.npp > 0 {
			dt, dl, da := 1/m.npp-t, p.known[i].latency-l, p.known[i].processor-a
			ll, la, aa, lt, at = ll+dl*dl, la+dl*da, aa+da*da, lt+dl*dt, at+da*dt
		}
	}
	byLatency := fits[p.fit] == "multivariate" && ll > collinear*n*l*l
	byProcessor := aa > collinear*n*a*a
	var c [3]float64
	switch det := ll*aa - la*la; {
	case byLatency && byProcessor && det > collinear*ll*aa:
		c[1], c[2] = (lt*aa-at*la)/det, (at*ll-lt*la)/det
	case byProcessor:
		c[2] = at / aa
	case byLatency:
		c[1] = lt / ll
	default:
		return
	}
	c[0] = t - c[1]*l - c[2]*a
	p.line.known, p.line.c = true, c
	for i := range p.members {
		if p.members[i].npp > 0 {
			p.fitted += 1 / p.line.time(p.known[i])
		}
	}
}
