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

// shareBy has slots divided by another policy from now on, which must be known.
func (q *claims) shareBy(spec string) {
	was := q.fair.terms
	f := newFairness(spec)
	q.fair.policy, q.fair.further, q.fair.ideal, q.fair.terms = f.policy, f.further, nil, f.terms
	q.c.timers.Set(q.c.now, reminder{ask: true}) // it may give what the other kept
	if was.PerOwner == f.terms.PerOwner && was.First == f.terms.First {
		return
	}
	var jobs []*job
	for _, id := range slices.Sorted(maps.Keys(q.c.table.jobs)) {
		if j := q.c.table.jobs[id]; j.claim != nil {
			jobs = append(jobs, j)
		}
	}
	clear(q.queue.items)
	clear(q.fair.claimants)
	q.queue.items = q.queue.items[:0]
	slices.SortFunc(jobs, func(a, b *job) int { return cmp.Compare(a.arrival, b.arrival) })
	for _, j := range jobs {
		j.claim, j.place = nil, -1
		q.reclaim(j)
	}
}

// reclaim finds a job its claimant again, with what it holds.
func (q *claims) reclaim(j *job) {
	cl := q.claimOf(j)
	cl.held += j.held
	for _, i := range slices.Sorted(maps.Keys(j.live)) {
		for _, l := range j.live[i].leases {
			if l.is(leasing.Open) {
				cl.at[l.host.counted.site]++
			}
		}
	}
	if j.queued {
		q.joins(j)
	} else {
		q.settleClaim(cl)
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
func (q *dispatch) divide() bool {
	f := &q.c.claims.fair
	f.parts, f.who = f.parts[:0], f.who[:0]
	if f.anywhere = q.roam(); f.anywhere {
		return true
	}
	pool := f.idle.slots
	first := q.nextClaimant()
	if first == nil {
		return false
	}
	f.who = append(f.who, first)
	if q.alone(first) {
		first.said = share.Reason{}
		first.top().given = 1
		f.parts = append(f.parts, part{job: first.top(), n: whole})
		return true
	}
	wanted := q.demand(first, pool)
	most := fewClaimants
	if f.ahead || q.c.claims.queue.len() >= most {
		most = pool << (2 * min(f.fruitless, maxFruitless))
	}
	for q.c.claims.queue.len() > 0 {
		next := q.c.claims.queue.items[0]
		if len(f.who) >= most || wanted >= pool && next.priority() < f.who[len(f.who)-1].priority() {
			break
		}
		if next = q.nextClaimant(); next != nil {
			f.who = append(f.who, next)
			wanted += q.demand(next, pool)
		}
	}
	q.grow(pool)
	return true
}

// roam makes the round one of a job that could use nothing of what it was given at its
// sites: it has as much anywhere.
func (q *dispatch) roam() bool {
	f := &q.c.claims.fair
	for len(f.roaming) > 0 {
		p := f.roaming[0]
		f.roaming = f.roaming[1:]
		if p.job.place < 0 || p.job.claim.place < 0 {
			continue // nothing of it waits any more
		}
		f.who = append(f.who, q.c.claims.queue.remove(p.job.claim.place))
		p.job.given = p.n
		f.parts = append(f.parts, p)
		return true
	}
	return false
}

// nextClaimant takes the next claimant that has a job that could run out of the queue; nil
// if there is none. Jobs that could not it puts aside.
func (q *dispatch) nextClaimant() *claimant {
	for q.c.claims.queue.len() > 0 {
		cl := q.c.claims.queue.items[0]
		if q.mayRun(cl.top()) {
			return q.c.claims.queue.pop()
		}
		q.putAside(cl.top())
	}
	return nil
}

// mayRun reports whether tasks of the job could go to one of the open hosts.
func (q *dispatch) mayRun(j *job) bool {
	return q.deciding.view.useful(j) && q.c.table.heldUp(j) == ""
}

// putAside leaves a job out for the rest of the Step.
func (q *dispatch) putAside(j *job) {
	q.c.claims.rests(j)
	q.c.claims.fair.aside = append(q.c.claims.fair.aside, j)
}

// alone reports whether a claimant, out of the queue, shares its priority with nobody, and
// nothing is to be kept free.
func (q *dispatch) alone(cl *claimant) bool {
	if q.c.claims.fair.terms.Guarded || q.c.claims.queue.len() > 0 &&
		q.c.claims.nextInTurn().spec.Priority == cl.priority() {
		return false
	}
	j, other := cl.jobs.second()
	return !other || j.spec.Priority < cl.priority()
}

// demand is how many tasks of the claimant's highest priority could run, up to most.
func (q *dispatch) demand(cl *claimant, most int) int {
	n := 0
	for _, j := range cl.jobs.items {
		if j.spec.Priority == cl.priority() && q.mayRun(j) {
			n += j.waitingCount()
		}
		if n >= most {
			return most
		}
	}
	return n
}

// grow asks the policy, and makes parts of its grants.
func (q *dispatch) grow(pool int) {
	f := &q.c.claims.fair
	f.arrived = append(f.arrived[:0], f.who...)
	slices.SortFunc(f.arrived, func(a, b *claimant) int { return cmp.Compare(a.arrival, b.arrival) })
	q.offerSites()
	f.claims, f.held = f.claims[:0], f.held[:0]
	for _, cl := range f.arrived {
		f.claims = append(f.claims, share.Claimant{
			ID: cl.id, Priority: cl.priority(), Weight: q.c.claims.weight(cl), Demand: q.demand(cl, pool),
			Held: f.holdings(cl), Task: share.Amount{Cores: 1, Memory: cl.top().spec.Memory},
		})
	}
	for k, cl := range f.who {
		cl.rank = k
	}
	policy := f.policy
	if f.ahead {
		policy = f.further
	}
	for _, g := range policy.Grow(q.c.now, f.claims, f.offered) {
		cl := f.arrived[g.Claimant]
		cl.saying, cl.getting = g.Reason, g.Slots > 0
		if g.Slots > 0 {
			q.deal(cl, &g)
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
func (q *dispatch) offerSites() {
	f := &q.c.claims.fair
	f.offered = f.offered[:0]
	if !f.terms.Sites {
		f.offered = append(f.offered, f.all.offer("", f.idle))
		return
	}
	for _, s := range f.order {
		s.idle = opening{}
	}
	for k, h := range q.deciding.open {
		q.deciding.opens(&h.counted.site.idle, k, f.ahead)
	}
	for _, s := range f.order {
		f.offered = append(f.offered, s.sums.offer(s.name, s.idle))
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
	from := len(f.held)
	switch {
	case cl.held == 0:
	case !f.terms.EachSite:
		f.held = append(f.held, share.Holding{Slots: cl.held})
	default:
		for k, s := range f.order {
			if n := cl.at[s]; n > 0 {
				f.held = append(f.held, share.Holding{Site: k, Slots: n})
			}
		}
	}
	return slices.Clip(f.held[from:])
}

// deal makes parts of a grant: an owner's jobs of one priority share it by what they
// hold, and their weights.
func (q *dispatch) deal(cl *claimant, g *share.Grant) {
	f := &q.c.claims.fair
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
		case !q.mayRun(j):
			q.putAside(j)
			continue
		case j.given == j.waitingCount():
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
