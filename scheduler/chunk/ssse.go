package chunk

import (
	"math"
	"time"

	"godwit/internal/spec"
)

func init() {
	Register("ssse", Kind{"peak k m threshold least adaptive",
		"Sim-PETEK's slow start, slow end: SAMRA whose rounds grow and shrink as a sine",
		func(ps *spec.Params, j Job) Policy {
			p := newSSSE(ps, j)
			return &p
		}})
	Register("issse", Kind{"peak k m threshold least adaptive",
		"SSSE whose slow members' last chunks are done again by idle faster ones", func(ps *spec.Params, j Job) Policy {
			return &issse{newSSSE(ps, j)}
		}})
}

// The defaults of the plan are the middle one of the thesis's five (section 5.2.2.1),
// which the charts that compare all schedulers are of (its Fig 5.7).
const (
	defaultPeak = 2
	defaultK    = 15
)

// A plan is the sine by which rounds grow up to the peak and shrink for k more
// (section 3.3.2). Non-zero rounds are peak + k - 1.
type plan struct {
	runs    float64 // of the job
	peak, k float64
	m       float64 // what makes all rounds together about the runs
}

// norm returns the m by which the rounds, before they are rounded down, are exactly the
// runs: the sum of the sines. The published values are 2 to 16 % below it, so that the
// plan is over before its end.
func (p *plan) norm() float64 {
	cot := func(x float64) float64 { return 1 / math.Tan(x) }
	return (cot(math.Pi/(4*p.peak)) - 1 + cot(math.Pi/(4*p.k)) + 1) / 2
}

// end is the first round after the last that has runs.
func (p *plan) end() int64 { return int64(p.peak + p.k) }

// budget returns the runs of a round, from 1 on; 0 after the last, and of any that is
// less than a run.
func (p *plan) budget(round int64) int64 {
	r := float64(round)
	angle := r * math.Pi / (2 * p.peak)
	if r >= p.peak {
		angle = (r + p.k - p.peak) * math.Pi / (2 * p.k)
	}
	if round >= p.end() {
		return 0
	}
	return floor(p.runs / p.m * math.Sin(angle))
}

// readPlan reads the plan. m=0, and none, is the exact norm.
func readPlan(ps *spec.Params, j Job) plan {
	p := plan{
		runs: float64(j.Runs),
		peak: float64(ps.Integer("peak", defaultPeak, 1, mostRounds)),
		k:    float64(ps.Integer("k", defaultK, 1, mostRounds)),
		m:    ps.Number("m", 0, 0, mostRounds),
	}
	if p.m == 0 {
		p.m = p.norm()
	}
	return p
}

// ssse is SSSE-AMRA (section 3.3.2): few runs a round at first, while little is known
// of members, and few at last, so that all end together.
//
// Runs count to the round that is open, and what a chunk is beyond its end counts to
// the next: the worked trace (section 3.3.2) has it so, and closes rounds between one
// member and the next. When the plan is over, what remains is the round.
type ssse struct {
	smart
	plan  plan
	round int64 // that is open, from 1
	given int64 // of it
}

func newSSSE(ps *spec.Params, j Job) ssse {
	p := ssse{plan: readPlan(ps, j), round: 1}
	p.job, p.gated, p.threshold, p.least = j, true, readThreshold(ps), readFewest(ps)
	p.frozen = ps.Choice("adaptive", "on", "off") == 1
	return p
}

// Size implements Policy.
func (p *ssse) Size(now time.Time, n Node, ask Ask) (int, Reason) {
	m := p.at(n)
	p.update()
	budget := p.plan.budget(p.round)
	for p.round < p.plan.end() && p.given >= budget {
		p.given -= budget
		p.round++
		budget = p.plan.budget(p.round)
	}
	if p.round >= p.plan.end() {
		budget = ask.Remaining
	}
	want, why := p.share(m, float64(budget))
	runs := p.give(now, n, want, ask)
	p.given += int64(runs)
	return runs, why
}

// issse is ISSSE-AMRA (section 3.3.3).
type issse struct{ ssse }

// Copy implements Copier: the running chunk that would end last of those that the
// member, which is idle, would end sooner. What is being copied is not copied again,
// nor is a copy. It looks at all members.
func (p *issse) Copy(now time.Time, n Node) (of Node, runs int, why Reason, ok bool) {
	mine := p.at(n)
	if mine.npp == 0 || mine.held > 0 {
		return none, 0, Reason{}, false
	}
	of = none
	last := 0.0 // seconds from now
	for i := range p.members {
		m := &p.members[i]
		if m.held == 0 || m.npp == 0 || m.copyOf != none || m.copier != none || Node(i) == n {
			continue
		}
		ends := float64(m.held)/m.npp - now.Sub(m.begun).Seconds()
		if ends > last && float64(m.held)/mine.npp < ends {
			of, last = Node(i), ends
		}
	}
	if of == none {
		return none, 0, Reason{}, false
	}
	m := &p.members[of]
	p.hold(now, mine, m.held)
	mine.copyOf, m.copier = of, n
	return of, m.held, because("nothing remains; it would end %.3g runs in %.3g s, and who has them in %.3g s",
		float64(m.held), float64(m.held)/mine.npp, last), true
}
