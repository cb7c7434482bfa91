// Package policies adds one of each to what Godwit knows by name: a policy of
// placement, of fairness, of chunking and of migration, a predictor and a law. It is
// all in this file; importing it is the registration.
package policies

import (
	"math/rand/v2"
	"slices"
	"time"

	"godwit/migrate"
	"godwit/predictor"
	"godwit/scheduler/chunk"
	"godwit/scheduler/place"
	"godwit/scheduler/share"
	"godwit/sim"
	"godwit/task"
	"godwit/trace"
)

func init() {
	place.Register("roomiest", place.Kind{
		Params: "spare",
		Does:   "tasks in order to the idle member with the most memory left, spare percent of it kept free",
		Make: func(ps *place.Params) place.Policy {
			return &roomiest{spare: ps.Number("spare", 0, 0, 99) / 100}
		},
	})
	share.Register("modest", share.Kind{
		Does: "who wants least has it first; who holds most gives back first",
		Make: func(*share.Params) share.Policy { return &modest{} },
	})
	chunk.Register("doubling", chunk.Kind{
		Params: "most",
		Does:   "a run at first, then twice as many each time, up to most",
		Make: func(ps *chunk.Params, _ chunk.Job) chunk.Policy {
			return &doubling{most: ps.Integer("most", 64, 1, 1<<20)}
		},
	})
	migrate.Register("closing", migrate.Kind{
		Params: "hour before",
		Does:   "tasks leave all members for which it is before to hour o'clock (UTC): the room is being closed",
		Make: func(ps *migrate.Params) migrate.Policy {
			return &closing{hour: ps.Integer("hour", 18, 0, 23), before: ps.Duration("before", 10*time.Minute)}
		},
	})
	predictor.Register("halflife", predictor.Kind{
		Params: "of",
		Does:   "whoever is there is gone with probability one half after a time",
		Make: func(ps *predictor.Params) func(*predictor.Pool) predictor.Predictor {
			of := ps.Duration("of", 12*time.Hour)
			return func(*predictor.Pool) predictor.Predictor { return &halfLife{of: of} }
		},
	})
	sim.RegisterLaw("twofold", sim.LawKind{
		Params: "ratio",
		Does:   "as many short as long ones, which are ratio times as long",
		Make: func(ps *sim.Params) sim.Draw {
			ratio := ps.Number("ratio", 10, 1, 1e6)
			short := 2 / (1 + ratio) // of which the mean is 1
			return func(rng *rand.Rand) float64 { return short * []float64{1, ratio}[rng.IntN(2)] }
		},
	})
}

// roomiest is a policy of placement: where a task goes.
type roomiest struct {
	spare float64 // of a member's memory, 0 to 1
	out   []place.Placement
}

// Traits implements place.Policy: it needs nothing beside Place.
func (p *roomiest) Traits() place.Traits { return place.Traits{} }

// Place implements place.Policy. hosts are copies, on which it books what it places.
func (p *roomiest) Place(_ time.Time, queue place.Queue, hosts []place.Host, _ place.Forecast,
	_ *rand.Rand) []place.Placement {
	p.out = p.out[:0]
	hosts = slices.Clone(hosts)
	for t, ok := queue.Next(); ok; t, ok = queue.Next() {
		var best *place.Host
		for i := range hosts {
			h := &hosts[i]
			if h.Idle() > 0 && h.Fits(&t) && float64(h.MemoryFree-t.Memory) >= p.spare*float64(h.Memory) &&
				(best == nil || h.MemoryFree > best.MemoryFree) {
				best = h
			}
		}
		if best == nil {
			if !slices.ContainsFunc(hosts, func(h place.Host) bool { return h.Idle() > 0 }) {
				break
			}
			queue.SkipJob() // its tasks are alike
			continue
		}
		best.Take(&t)
		p.out = append(p.out, place.Placement{Task: t.ID, Peer: best.Peer,
			Reason: place.Because("it has the most memory left")})
	}
	return p.out
}

// modest is a policy of fairness: whose turn it is.
type modest struct{}

// Terms implements share.Policy: all sites are one, and nothing is taken back for a job
// that arrives.
func (*modest) Terms() share.Terms { return share.Terms{} }

// Grow implements share.Policy.
func (*modest) Grow(_ time.Time, claimants []share.Claimant, sites []share.Site) (out []share.Grant) {
	idle := 0
	for _, s := range sites {
		if s.Queued == 0 {
			idle += max(0, s.Idle)
		}
	}
	order := inOrder(claimants, func(a, b *share.Claimant) int {
		if a.Priority != b.Priority {
			return b.Priority - a.Priority // strict, as of every policy
		}
		return a.Demand - b.Demand
	})
	for _, i := range order {
		if claimants[i].Demand > 0 {
			n := min(idle, claimants[i].Demand)
			idle -= n
			out = append(out, share.Grant{Claimant: i, Site: share.AnySite, Slots: n,
				Reason: share.Because("who wants least has it first")})
		}
	}
	return out
}

// Shrink implements share.Policy.
func (*modest) Shrink(claimants []share.Claimant, site, need int) (out []share.Release) {
	at := func(c *share.Claimant) int {
		for _, h := range c.Held {
			if h.Site == site {
				return h.Slots
			}
		}
		return 0
	}
	for _, i := range inOrder(claimants, func(a, b *share.Claimant) int {
		if a.Priority != b.Priority {
			return a.Priority - b.Priority
		}
		return at(b) - at(a)
	}) {
		if n := min(need, at(&claimants[i])); n > 0 {
			need -= n
			out = append(out, share.Release{Claimant: i, Slots: n, Reason: share.Because("who holds most gives back first")})
		}
	}
	return out
}

// Local implements share.Policy.
func (p *modest) Local(claimants []share.Claimant, site, need int) []share.Release {
	return p.Shrink(claimants, site, need)
}

// inOrder returns the places of claimants, sorted; equal ones stay as they are.
func inOrder(claimants []share.Claimant, compare func(a, b *share.Claimant) int) []int {
	order := make([]int, len(claimants))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return compare(&claimants[i], &claimants[j]) })
	return order
}

// doubling is a policy of chunking: how much at once.
type doubling struct {
	most int
	next []int        // runs of the next chunk, by node
	free []chunk.Node // that left, the last at the end
}

// Join implements chunk.Policy.
func (p *doubling) Join(chunk.Member) chunk.Node {
	if k := len(p.free); k > 0 {
		n := p.free[k-1]
		p.free, p.next[n] = p.free[:k-1], 1
		return n
	}
	p.next = append(p.next, 1)
	return chunk.Node(len(p.next) - 1)
}

// Leave implements chunk.Policy.
func (p *doubling) Leave(n chunk.Node) { p.free = append(p.free, n) }

// Size implements chunk.Policy.
func (p *doubling) Size(_ time.Time, n chunk.Node, ask chunk.Ask) (int, chunk.Reason) {
	size := int(min(int64(p.next[n]), ask.Remaining))
	if ask.Most > 0 {
		size = min(size, ask.Most)
	}
	p.next[n] = min(2*p.next[n], p.most)
	return max(0, size), chunk.Because("twice as many as the last time")
}

// Done implements chunk.Policy: it learns nothing.
func (*doubling) Done(time.Time, chunk.Node, int, time.Duration) {}

// Back implements chunk.Policy: whoever gave runs back begins anew.
func (p *doubling) Back(_ time.Time, n chunk.Node, _ int) { p.next[n] = 1 }

// closing is a policy of migration: when a task leaves.
type closing struct {
	hour   int
	before time.Duration
	out    []migrate.Prediction
}

// Scan implements migrate.Policy.
func (p *closing) Scan(now time.Time, hosts []migrate.Host, _ migrate.Forecast, _ *rand.Rand) []migrate.Prediction {
	p.out = p.out[:0]
	now = now.UTC()
	left := time.Date(now.Year(), now.Month(), now.Day(), p.hour, 0, 0, 0, time.UTC).Sub(now)
	if left <= 0 || left > p.before {
		return p.out
	}
	for i := range hosts {
		if len(hosts[i].Tasks) > 0 {
			p.out = append(p.out, migrate.Prediction{Peer: hosts[i].Peer, Exit: true, For: p.before,
				Reason: "the room is being closed"})
		}
	}
	return p.out
}

// Left implements migrate.Policy: it learns nothing.
func (*closing) Left(task.PeerID, time.Time) {}

// Period implements migrate.Policy: a scan or more falls into the time before closing.
func (p *closing) Period() time.Duration { return p.before / 2 }

// halfLife is a predictor of one host.
type halfLife struct {
	of    time.Duration
	begun bool
}

// Observe implements predictor.Predictor.
func (h *halfLife) Observe(time.Time, trace.State) { h.begun = true }

// Stay implements predictor.Predictor.
func (h *halfLife) Stay(_ time.Time, d time.Duration) (p float64, known bool) {
	p = 1
	for ; d >= h.of && p > 0; d -= h.of {
		p /= 2
	}
	return p * (1 - float64(d)/float64(h.of)/2), h.begun
}
