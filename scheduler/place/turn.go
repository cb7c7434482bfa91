package place

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"

	"godwit/task"
)

// Turn is FCFS as Zhang compares with it (section 4.1): idle members in turn, by
// name, one task a slot, and no forecast. Where it is published resources are
// numbered; here their names give the order.
type Turn struct {
	// Ahead gives tasks to busy members when nobody is idle, to start without a
	// round trip.
	Ahead bool
	last  task.PeerID // had its turn
	round round
}

// Traits implements Policy.
func (p *Turn) Traits() Traits { return Traits{Rank: p.rank} }

// Place implements Policy.
func (p *Turn) Place(_ time.Time, queue Queue, hosts []Host, _ Forecast, _ *rand.Rand) []Placement {
	r := p.round.begin(hosts)
	r.ahead = p.Ahead
	return r.fill(queue, false, func(t *Task, open []*Host) (int, Reason, bool) {
		return p.next(t, open, func(*Host) (Reason, bool) {
			return Because("next in order; the next idle member in turn"),
				true
		})
	})
}

// next offers the task to the fitting hosts in turn, each once, until one is
// accepted, and moves the turn on to the one after it.
func (p *Turn) next(t *Task, open []*Host, accept func(*Host) (reason Reason, ok bool)) (int, Reason, bool) {
	from := 0
	if len(open) > 1 {
		at, had := slices.BinarySearchFunc(open, p.last,
			func(h *Host, last task.PeerID) int { return cmp.Compare(h.Peer, last) })
		if from = at; had {
			from++
		}
	}
	for k := range open {
		i := (from + k) % len(open)
		if !open[i].Fits(t) {
			continue
		}
		if reason, ok := accept(open[i]); ok {
			p.last = open[i].Peer
			return i, reason, true
		}
	}
	return 0, Reason{}, false
}
