package place

import (
	"math/rand/v2"
	"slices"
	"time"
)

// Idle is FCFS as Kokaly compares with it (2008, sections 4.4.1 and 8.1.2): the task
// that is next, whatever its class, goes to the member that has been idle longest.
// Members that execute it at the rate 0 are passed by.
type Idle struct {
	patience float64 // see Traits
	rates    Rates
	round    round
}

// Traits implements Policy.
func (p *Idle) Traits() Traits { return Traits{Patience: p.patience, Rate: p.rate} }

func (p *Idle) rate(_ time.Time, r Rates) bool {
	p.rates = r
	return false
}

// Place implements Policy.
func (p *Idle) Place(_ time.Time, queue Queue, hosts []Host, _ Forecast, _ *rand.Rand) []Placement {
	r := p.round.begin(hosts)
	r.order = longestIdle
	r.skip = true
	return r.fill(queue, false, func(t *Task, open []*Host) (int, Reason, bool) {
		for i := r.from; i < len(open); i++ {
			if open[i].Fits(t) && (p.rates == nil || p.rates.Of(t.Class, open[i].Peer) > 0) {
				return i, Because("next in order; the member that was idle longest"), true
			}
		}
		return 0, Reason{}, false
	})
}

func longestIdle(hosts []*Host) { slices.SortFunc(hosts, idleLonger) }
