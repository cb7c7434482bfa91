package chunk

import (
	"time"

	"godwit/internal/spec"
)

// Default is the policy used where none is named: docs/rationale.md has why.
const Default = "paced"

// The defaults of paced. A decision with its messages takes a coordinator some 100 us:
// so many a second are a tenth of its time. What a member has is lost with it, and what
// it was measured to do may be old: a chunk is short beside how long members stay, and
// at such a length a round trip of 100 ms is a hundredth of it.
const (
	defaultRate    = 1000 // chunks a second, for all members together
	defaultLongest = 10   // seconds
	growth         = 2    // what the next chunk may be over the last, as in any slow start
)

func init() {
	Register("paced", Kind{"x rate longest",
		"AWF that begins with a probe, for chunks of bounded time: long enough for its coordinator, short beside how long " +
			"members stay", func(ps *spec.Params, j Job) Policy {
			return &paced{
				powers: powers{pool: pool{job: j}, aging: true}, x: readFactor(ps),
				rate:    ps.Number("rate", defaultRate, 1e-3, 1e9),
				longest: ps.Number("longest", defaultLongest, 0, 1e9),
			}
		}})
}

// paced is the project's own: AWF (see awf) for members that come and go, in sweeps whose
// first published chunk, half of all, would be hours of work. A member begins with what
// fills its slots once, and no chunk is more than twice the one before; none takes longer
// than longest. None takes less time than would have the coordinator give more than rate
// chunks a second, to all members together. Who would need longer for a run than all
// members together for all that is left gets none: it would be waited for. A chunk that fills the slots more than once
// fills them to the last, as SAMRA's do.
type paced struct {
	powers
	x, rate, longest float64
}

// Size implements Policy.
func (p *paced) Size(now time.Time, n Node, ask Ask) (int, Reason) {
	want, why := p.want(n, ask)
	runs := p.give(now, n, want, ask)
	if runs > 0 {
		p.extra[n].given = runs
	}
	return runs, why
}

func (p *paced) want(n Node, ask Ask) (int64, Reason) {
	m, last := p.at(n), float64(max(p.extra[n].given, 1))
	least, q := p.atOnce(m), p.quantum(m)
	if m.npp == 0 {
		return least, because("a probe: %g that fill its slots", float64(least))
	}
	share, power, total := p.share(m), m.npp, p.total()
	if takes, all := float64(min(least, ask.Remaining))/power, float64(ask.Remaining+p.out)/total; takes > all {
		return 0, because("the least it can be given takes it %.3g s, and all that is left takes everybody %.3g s", takes,
			all)
	}
	x := float64(ask.Remaining) * share / p.x
	why := because("it does %.3g of what all do, of 1/%g of the %.4g runs that remain", share, p.x, float64(ask.Remaining))
	if most := max(p.longest*power, float64(q)); x > most {
		x, why = most, because("no chunk takes longer than %g s; it does %.4g runs a second", p.longest, power)
	}
	if shortest := float64(p.here) / p.rate; x < shortest*power {
		x, why = shortest*power, because("no chunk is shorter than %.3g s, for %g members and %g chunks a second", shortest,
			float64(p.here), p.rate)
	}
	if most := growth * last; x > most {
		x, why = most, because("no chunk is more than %g times the last, of %g runs", growth, last)
	}
	if x > float64(q) {
		return floor(x/float64(q)) * q, why
	}
	return max(ceil(x), 1), why
}
