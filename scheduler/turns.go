package scheduler

import (
	"cmp"
	"maps"
	"slices"

	"godwit/scheduler/leasing"
	"godwit/scheduler/share"
)

// Whose turn it is. A round divides the slots that are idle among those who claim some,
// by the policy that the overlay's rules name, and has the placement policy choose among
// the tasks that it gives each. Rounds follow each other in a Step until nothing is left
// to give: what one could not use, because its tasks fit no idle host, is divided anew
// among the others.
//
// Slots come first. When no idle one is left that anybody can use, the room that hosts
// have for tasks ahead is divided in the same way: so a job has no task waiting at a
// worker while another's could run there, and jobs of short tasks have what they wait
// for at workers in like parts, too. A job that is alone at its priority, where no guard
// keeps slots idle, is asked for no turn: it gets all, ahead as well, in one round.

// shareAnew has slots divided as the rules say now, whose policy must be known.
func (cs *claims) shareAnew() {
	was := cs.fair.terms
	f := fairnessOf(&cs.c.cfg.Rules)
	cs.fair.policy, cs.fair.further, cs.fair.ideal, cs.fair.terms = f.policy, f.further, nil, f.terms
	cs.c.timers.Set(cs.c.now, reminder{ask: true}) // it may give what the other kept
	if was.PerOwner == f.terms.PerOwner && was.First == f.terms.First {
		return
	}
	var jobs []*job
	for _, id := range slices.Sorted(maps.Keys(cs.c.table.jobs)) {
		if j := cs.c.table.jobs[id]; j.claim != nil {
			jobs = append(jobs, j)
		}
	}
	clear(cs.queue.items)
	clear(cs.fair.claimants)
	cs.queue.items = cs.queue.items[:0]
	slices.SortFunc(jobs, func(a, b *job) int { return cmp.Compare(a.arrival, b.arrival) })
	for _, j := range jobs {
		j.claim, j.place = nil, -1
		cs.reclaim(j)
	}
}

// reclaim finds a job its claimant again, with what it holds.
func (cs *claims) reclaim(j *job) {
	cl := cs.claimOf(j)
	cl.held += j.held
	for _, i := range slices.Sorted(maps.Keys(j.live)) {
		for _, l := range j.live[i].leases {
			if l.is(leasing.Open) {
				cl.at[l.host.counted.site]++
			}
		}
	}
	if j.queued {
		cs.joins(j)
	} else {
		cs.settleClaim(cl)
	}
}

const (
	// fewClaimants is up to how many all take part in a round. Of more it is only as many
	// as there are slots, of whom each has one: whose turn that is the queue's order says,
	// for a policy remembers the turns of those whom it always sees.
	fewClaimants = 16
	// maxFruitless is how many rounds in a row may place nothing before a Step gives up.
	// To each four times as many are shown, to the last 64 at least: as many tasks as
	// place.FCFS looks at.
	maxFruitless = 4
)

// divide says what this round's parts are of the hosts that are open. It says false if
// there is nobody to give anything.
func (d *dispatch) divide() bool {
	f := &d.c.claims.fair
	f.parts, f.who = f.parts[:0], f.who[:0]
	if f.anywhere = d.roam(); f.anywhere {
		return true
	}
	pool := f.idle.slots
	first := d.nextClaimant()
	if first == nil {
		return false
	}
	f.who = append(f.who, first)
	if d.alone(first) {
		first.said = share.Reason{}
		first.top().given = 1
		f.parts = append(f.parts, part{job: first.top(), n: whole})
		return true
	}
	wanted := d.demand(first, pool)
	most := fewClaimants
	if f.ahead || d.c.claims.queue.len() >= most {
		most = pool << (2 * min(f.fruitless, maxFruitless))
	}
	for d.c.claims.queue.len() > 0 {
		next := d.c.claims.queue.items[0]
		if len(f.who) >= most || wanted >= pool && next.priority() < f.who[len(f.who)-1].priority() {
			break
		}
		if next = d.nextClaimant(); next != nil {
			f.who = append(f.who, next)
			wanted += d.demand(next, pool)
		}
	}
	d.grow(pool)
	return true
}

// roam makes the round one of a job that could use nothing of what it was given at its
// sites: it has as much anywhere.
func (d *dispatch) roam() bool {
	f := &d.c.claims.fair
	for len(f.roaming) > 0 {
		p := f.roaming[0]
		f.roaming = f.roaming[1:]
		if p.job.place < 0 || p.job.claim.place < 0 {
			continue // nothing of it waits any more
		}
		f.who = append(f.who, d.c.claims.queue.remove(p.job.claim.place))
		p.job.given = p.n
		f.parts = append(f.parts, p)
		return true
	}
	return false
}

// nextClaimant takes the next claimant that has a job that could run out of the queue; nil
// if there is none. Jobs that could not it puts aside.
func (d *dispatch) nextClaimant() *claimant {
	for d.c.claims.queue.len() > 0 {
		cl := d.c.claims.queue.items[0]
		if d.mayRun(cl.top()) {
			return d.c.claims.queue.pop()
		}
		d.putAside(cl.top())
	}
	return nil
}

// mayRun reports whether tasks of the job could go to one of the open hosts.
func (d *dispatch) mayRun(j *job) bool {
	if f := &d.c.claims.fair; f.ahead && !f.filling && d.recalling.contended() && d.recalling.unsure(j) {
		return false
	}
	return d.deciding.view.useful(j) && j.room() > 0 && d.c.table.heldUp(j) == ""
}

// putAside leaves a job out for the rest of the Step.
func (d *dispatch) putAside(j *job) {
	d.c.claims.rests(j)
	d.c.claims.fair.aside = append(d.c.claims.fair.aside, j)
}

// alone reports whether a claimant, out of the queue, shares its priority with nobody, and
// nothing is to be kept free.
func (d *dispatch) alone(cl *claimant) bool {
	if d.c.claims.fair.terms.Guarded || d.c.claims.queue.len() > 0 &&
		d.c.claims.nextInTurn().priority == cl.priority() {
		return false
	}
	j, other := cl.jobs.second()
	return !other || j.priority < cl.priority()
}

// demand is how many tasks of the claimant's highest priority could run, up to most.
func (d *dispatch) demand(cl *claimant, most int) int {
	n := 0
	for _, j := range cl.jobs.items {
		if j.priority == cl.priority() && d.mayRun(j) {
			n += j.startable()
		}
		if n >= most {
			return most
		}
	}
	return n
}

// grow asks the policy, and makes parts of its grants.
func (d *dispatch) grow(pool int) {
	f := &d.c.claims.fair
	f.arrived = append(f.arrived[:0], f.who...)
	slices.SortFunc(f.arrived, func(a, b *claimant) int { return cmp.Compare(a.arrival, b.arrival) })
	d.offerSites()
	f.shown.claimants, f.shown.held = f.shown.claimants[:0], f.shown.held[:0]
	for _, cl := range f.arrived {
		f.shown.claimants = append(f.shown.claimants, share.Claimant{
			ID: cl.id, Priority: cl.priority(), Weight: d.c.claims.weight(cl), Demand: d.demand(cl, pool),
			Held: f.holdings(cl), Used: cl.used, Sorting: cl.top().sorting(),
			Task: share.Amount{Cores: 1, Memory: leastMemory(cl.top().spec)},
		})
	}
	for k, cl := range f.who {
		cl.rank = k
	}
	policy := f.policy
	if f.ahead {
		policy = f.further
	}
	for _, g := range policy.Grow(d.c.now, f.shown.claimants, f.shown.sites) {
		cl := f.arrived[g.Claimant]
		cl.saying, cl.getting = g.Reason, g.Slots > 0
		if g.Slots > 0 {
			d.deal(cl, &g)
		}
	}
	slices.SortStableFunc(f.parts, func(a, b part) int {
		return cmp.Or(compareSites(a.site, b.site), cmp.Compare(a.job.claim.rank, b.job.claim.rank))
	})
}

func compareSites(a, b *site) int {
	switch {
	case a == b:
		return 0
	case a == nil:
		return -1
	case b == nil:
		return 1
	}
	return cmp.Compare(a.name, b.name)
}

// offerSites describes what is open: as one site, if the policy does not look at them.
func (d *dispatch) offerSites() {
	f := &d.c.claims.fair
	f.shown.sites = f.shown.sites[:0]
	if !f.terms.Sites {
		f.shown.sites = append(f.shown.sites, f.all.offer("", f.idle))
		return
	}
	for _, s := range f.order {
		s.idle = opening{}
	}
	for k, h := range d.deciding.open {
		d.deciding.opens(&h.counted.site.idle, k, f.ahead)
	}
	for _, s := range f.order {
		f.shown.sites = append(f.shown.sites, s.sums.offer(s.name, s.idle))
	}
}

// offer describes a site.
func (a *amounts) offer(name string, idle opening) share.Site {
	return share.Site{
		Name: name, Total: a.slots, Used: a.used, Idle: idle.slots,
		Capacity: share.Amount{Cores: int64(a.slots), Memory: a.memory},
		Free:     share.Amount{Cores: int64(idle.slots), Memory: idle.memory},
	}
}

// holdings is what a claimant has, in the memory of the round.
func (f *fairness) holdings(cl *claimant) []share.Holding {
	from := len(f.shown.held)
	switch {
	case cl.held == 0:
	case !f.terms.EachSite:
		f.shown.held = append(f.shown.held, share.Holding{Slots: cl.held})
	default:
		for k, s := range f.order {
			if n := cl.at[s]; n > 0 {
				f.shown.held = append(f.shown.held, share.Holding{Site: k, Slots: n})
			}
		}
	}
	return slices.Clip(f.shown.held[from:])
}

// deal makes parts of a grant: an owner's jobs of one priority share it by what they
// hold, and their weights.
func (d *dispatch) deal(cl *claimant, g *share.Grant) {
	f := &d.c.claims.fair
	p := part{n: g.Slots, why: g.Reason}
	if g.Site != share.AnySite && f.terms.Sites {
		p.site = f.order[g.Site]
	}
	if p.job = cl.top(); cl.jobs.len() == 1 {
		p.job.given += p.n
		f.parts = append(f.parts, p)
		return
	}
	f.used, f.dealt = f.used[:0], f.dealt[:0]
	priority := cl.priority()
	for n := g.Slots; n > 0 && cl.jobs.len() > 0 && cl.priority() == priority; {
		j := cl.top()
		switch {
		case !d.mayRun(j):
			d.putAside(j)
			continue
		case j.given >= j.startable():
			f.used = append(f.used, cl.jobs.pop())
			continue
		}
		if j.now == 0 {
			f.dealt = append(f.dealt, j)
		}
		j.given, j.now, n = j.given+1, j.now+1, n-1
		cl.jobs.fix(0)
	}
	for _, j := range f.used {
		cl.jobs.push(j)
	}
	for _, j := range f.dealt {
		p.job, p.n, j.now = j, j.now, 0
		f.parts = append(f.parts, p)
	}
}
