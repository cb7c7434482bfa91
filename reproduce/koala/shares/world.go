package shares

import (
	"math/rand/v2"
	"time"

	"godwit/scheduler/share"
)

// A world is a run. One function at a time changes it; what is to come is in
// agenda.
type world struct {
	*Scenario
	policy   share.Policy
	give     share.Giver
	rng      *rand.Rand
	now      time.Duration
	agenda   agenda
	clusters []*cluster
	bags     []*bag
	higher   []*job
	unplaced []*job // grid jobs that came since the last scan
	open     int    // bags and higher jobs that are not over
	orders   tally  // from an order to give a node back until it is free
}

func newWorld(s *Scenario, policy share.Policy, give share.Giver) *world {
	w := &world{Scenario: s, policy: policy, give: give, rng: rand.New(rand.NewPCG(s.Seed, 0x5a))}
	for i := range s.Clusters {
		w.clusters = append(w.clusters, newCluster(w, i))
	}
	for i := range s.Bags {
		b := newBag(w, i)
		w.bags = append(w.bags, b)
		w.at(s.Bags[i].At, func() { b.here = true })
	}
	for i := range s.Higher {
		j := &job{Higher: s.Higher[i], left: s.Higher[i].Parts}
		w.higher = append(w.higher, j)
		w.at(j.At, func() { w.arrive(j) })
	}
	w.open = len(w.bags) + len(w.higher)
	w.at(0, w.scan)
	for _, c := range w.clusters {
		w.watch(c)
	}
	return w
}

// at has something done at a time, which is not before now.
func (w *world) at(when time.Duration, do func()) { w.agenda.push(when, do) }

// longest is how long a run without an end may take: no work takes that long that
// is done at all.
const longest = 10 * 365 * 24 * time.Hour

func (w *world) run() {
	until := w.Until
	if until == 0 {
		until = longest
	}
	for {
		e, ok := w.agenda.pop()
		if !ok || e.at > until || w.Until == 0 && w.open == 0 {
			break
		}
		w.now = e.at
		e.do()
	}
	if w.Until > 0 {
		w.now = w.Until
	}
	for _, c := range w.clusters {
		c.count()
	}
}

// watch begins the lookouts of a cluster.
func (w *world) watch(c *cluster) {
	every := func(look func()) {
		var again func()
		again = func() {
			look()
			w.at(w.now+w.Poll, again)
		}
		w.at(time.Duration(w.rng.Int64N(int64(w.Poll))), again)
	}
	if w.Together {
		every(func() { w.lookForAll(c) })
		return
	}
	for _, b := range w.bags {
		every(func() { w.lookFor(c, b) })
	}
}

// lookForAll gives back what the local queue lacks.
func (w *world) lookForAll(c *cluster) {
	lacks := c.waiting() - c.free - c.leaving
	if lacks > 0 {
		w.release(c, w.policy.Local(w.claimants(), c.index, lacks), nil)
	}
}

// lookFor gives back a bag's nodes for all that waits. A bag knows what waits, and
// what all hold, and nothing else.
func (w *world) lookFor(c *cluster, b *bag) {
	if n := c.waiting(); n > 0 {
		w.release(c, w.policy.Local(w.claimants(), c.index, n), b)
	}
}

// release gives nodes back, of one bag only unless that is nil.
func (w *world) release(c *cluster, rs []share.Release, only *bag) {
	for _, r := range rs {
		if b := w.bags[r.Claimant]; only == nil || b == only {
			b.giveUp(c, r.Slots)
		}
	}
}

// claimants are all bags, in the order of the scenario. Those that have not come or
// are over want nothing and hold nothing.
func (w *world) claimants() []share.Claimant {
	out := make([]share.Claimant, len(w.bags))
	for i, b := range w.bags {
		out[i] = b.claimant()
	}
	return out
}

// scan places grid jobs, then divides what is idle.
func (w *world) scan() {
	w.at(w.now+w.Scan, w.scan)
	for _, j := range w.unplaced {
		w.place(j)
	}
	w.unplaced = w.unplaced[:0]
	sites := make([]share.Site, len(w.clusters))
	for i, c := range w.clusters {
		sites[i] = share.Site{
			Name: c.Name, Total: c.Nodes, Used: c.Nodes - c.free, Idle: c.free, Queued: c.waiting() + c.claimed,
		}
	}
	for _, g := range w.policy.Grow(time.Unix(0, 0).Add(w.now), w.claimants(), sites) {
		left := g.Slots
		if g.Site != share.AnySite {
			w.grow(w.bags[g.Claimant], w.clusters[g.Site], left)
			continue
		}
		for _, c := range w.clusters {
			if c.waiting()+c.claimed == 0 {
				left -= w.grow(w.bags[g.Claimant], c, left)
			}
		}
	}
}

// grow starts launchers of a bag on up to n nodes that are free.
func (w *world) grow(b *bag, c *cluster, n int) int {
	n = min(n, c.free)
	for range n {
		b.launch(c)
	}
	return n
}

// arrive submits a local job at once; a grid job waits for the next scan.
func (w *world) arrive(j *job) {
	if j.Cluster == Anywhere {
		w.unplaced = append(w.unplaced, j)
		return
	}
	for range j.Parts {
		w.clusters[j.Cluster].submit(j)
	}
}

// place finds a cluster for each part of a grid job, the one where most nodes can be
// had, and has bags give back what it lacks there (Grundeken 2009, section 3.1.3).
func (w *world) place(j *job) {
	parts := make([]int, len(w.clusters))
	for range j.Parts {
		best, most := 0, -1<<31
		for i, c := range w.clusters {
			can := c.free + c.leaving + c.held - c.claimed - c.waiting() - parts[i]*j.Nodes
			if c.Nodes >= j.Nodes && can > most {
				best, most = i, can
			}
		}
		parts[best]++
	}
	for i, n := range parts {
		if n == 0 {
			continue
		}
		c, need := w.clusters[i], n*j.Nodes
		lacks := c.claimed + c.waiting() + need - c.free - c.leaving
		c.claimed += need
		w.at(w.now+w.Costs.Claim, func() {
			c.claimed -= need
			for range n {
				c.submit(j)
			}
		})
		if lacks > 0 {
			w.release(c, w.policy.Shrink(w.claimants(), i, lacks), nil)
		}
	}
}
