package place

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"godwit/internal/spec"
)

// Controls are what an evaluation compares with: each gives tasks in order to
// idle members, in an order that looks at one thing only.
func init() {
	control := func(name, does string, order func([]*Host), reason func(*Host) Reason) {
		Register(name, Kind{Params: "ahead", Does: does, Make: func(ps *spec.Params) Policy {
			return &first{order: order, reason: reason, ahead: ps.Choice("ahead", "no", "yes") == 1}
		}})
	}
	control("fastest", "tasks in order to the fastest idle member",
		func(hs []*Host) {
			slices.SortStableFunc(hs, func(a, b *Host) int { return cmp.Compare(b.Speed, a.Speed) })
		},
		func(h *Host) Reason { return Reason{words: fastestWords, x: h.Speed} })
	control("uptime", "tasks in order to the idle member that has been there longest",
		func(hs []*Host) { slices.SortStableFunc(hs, longerThere) },
		func(h *Host) Reason {
			if h.Since.IsZero() {
				return Because("next in order; nobody is known to have been there longer")
			}
			return Reason{words: uptimeWords, n: h.Since.Unix()}
		})
	Register("random", Kind{Params: "ahead", Does: "tasks in order to any idle member, all alike",
		Make: func(ps *spec.Params) Policy {
			return &Random{ahead: ps.Choice("ahead", "no", "yes") == 1}
		}})
}

func fastestWords(r *Reason) string {
	return fmt.Sprintf("next in order; the fastest (speed %.3g)", r.x)
}

func uptimeWords(r *Reason) string {
	return "next in order; there longest, since " + time.Unix(r.n, 0).UTC().Format(time.DateTime)
}

// longerThere orders by the start of the stay; those of which it is not known
// are last.
func longerThere(a, b *Host) int {
	if az, bz := a.Since.IsZero(), b.Since.IsZero(); az || bz {
		switch {
		case !az:
			return -1
		case !bz:
			return 1
		}
		return 0
	}
	return a.Since.Compare(b.Since)
}

// first gives each task to the first in an order; equals are in the order of
// names.
type first struct {
	order  func([]*Host)
	reason func(*Host) Reason
	ahead  bool
	round  round
}

// Traits implements Policy.
func (p *first) Traits() Traits { return Traits{} }

// Place implements Policy.
func (p *first) Place(_ time.Time, queue Queue, hosts []Host, _ Forecast, _ *rand.Rand) []Placement {
	r := p.round.begin(hosts)
	r.ahead, r.order = p.ahead, p.order
	return r.fill(queue, false, func(_ *Task, open []*Host) (int, Reason, bool) {
		return r.from, p.reason(open[r.from]), true
	})
}

// Random gives each task to any idle member that fits, all with the same
// probability.
type Random struct {
	ahead bool
	round round
}

// Traits implements Policy.
func (p *Random) Traits() Traits { return Traits{} }

// Place implements Policy.
func (p *Random) Place(_ time.Time, queue Queue, hosts []Host, _ Forecast, rng *rand.Rand) []Placement {
	r := p.round.begin(hosts)
	r.ahead = p.ahead
	return r.fill(queue, false, func(t *Task, open []*Host) (int, Reason, bool) {
		for i := range open { // the rest of a shuffle, as far as it is needed
			k := i + rng.IntN(len(open)-i)
			open[i], open[k] = open[k], open[i]
			r.from = 0
			if open[i].Fits(t) {
				return i, Because("next in order; drawn at random"), true
			}
		}
		return 0, Reason{}, false
	})
}
