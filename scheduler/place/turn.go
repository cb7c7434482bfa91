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
}

// Place implements Policy.
func (p *Turn) Place(_ time.Time, queue Queue, hosts []Host, _ Forecast, _ *rand.Rand) []Placement {
	r := newRound(hosts)
	r.ahead = p.Ahead
	return r.fill(queue, false, func(t *Task, open []*Host) (int, string, bool) {
		return p.next(t, open, func(*Host) (string, bool) { return "next in order; the next idle member in turn", true })
	})
}

// next offers the task to the fitting hosts in turn, each once, until one is
// accepted, and moves the turn on to the one after it.
func (p *Turn) next(t *Task, open []*Host, accept func(*Host) (reason string, ok bool)) (int, string, bool) {
	from, had := slices.BinarySearchFunc(open, p.last, func(h *Host, last task.PeerID) int { return cmp.Compare(h.Peer, last) })
	if had {
		from++
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
	return 0, "", false
}
