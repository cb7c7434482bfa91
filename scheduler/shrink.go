package scheduler

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"godwit/scheduler/leasing"
	"godwit/scheduler/message"
	"godwit/scheduler/share"
	"godwit/task"
)

// Slots that are given back. Where the overlay's fairness says shrink=arrival, a job that
// comes and finds too few idle slots gets some that others hold: what it is entitled to
// beside them, where the policy makes holdings level; else only what those of lower
// priority have (KOALA's growing and shrinking: Grundeken 2009, sections 3.1.3 and
// 3.7.1, by which nothing is taken from equals). A task that is to make room is stopped
// with its state saved and waits for its next turn, so that nothing of it is lost: one
// whose state cannot be saved stays where it is. That is done once, when the job comes.

// A stake is a claimant as that reckons with it, by sites: one for all, if the policy
// does not divide each.
type stake struct {
	claimant *claimant
	priority int
	held     []int      // slots that it has
	due      []int      // slots that it would have if all were divided anew
	gives    [][]*lease // of those that it has, those that it could give back
}

// makeRoom has slots given back for the jobs that have come since it was last called, but for
// a coordinator that does not know yet who holds them.
func (d *dispatch) makeRoom() {
	if d.c.term.recovering {
		return
	}
	came := d.c.claims.fair.came
	d.c.claims.fair.came = came[:0]
	if !d.c.claims.fair.terms.OnArrival {
		return
	}
	for _, j := range came {
		if j.queued && j.room() > 0 && d.c.table.heldUp(j) == "" {
			d.makeRoomFor(j)
		}
	}
}

func (d *dispatch) makeRoomFor(j *job) {
	stakes := d.stakes(j)
	sites := d.divideAnew(stakes)
	mine := &stakes[slices.IndexFunc(stakes, func(s stake) bool { return s.claimant == j.claim })]
	wanted := j.startable()
	for site := range sites {
		need := wanted
		if d.c.claims.fair.terms.Levels {
			need = min(need, mine.due[site]-mine.held[site])
		}
		if need > 0 {
			wanted -= d.shrink(j, stakes, site, need)
		}
	}
}

// stakes lists all claimants, in the order of arrival, with what they hold. Only the
// tasks that a host runs at once count: those ahead of its slots hold none.
func (d *dispatch) stakes(j *job) []stake {
	sites := 1
	if d.c.claims.fair.terms.EachSite {
		sites = len(d.c.claims.fair.order)
	}
	place := map[*claimant]int{}
	var stakes []stake
	for _, id := range slices.Sorted(maps.Keys(d.c.claims.fair.claimants)) {
		stakes = append(stakes, stake{claimant: d.c.claims.fair.claimants[id], held: make([]int, sites),
			due: make([]int, sites), gives: make([][]*lease, sites)})
	}
	slices.SortStableFunc(stakes, func(a, b stake) int { return cmp.Compare(a.claimant.arrival, b.claimant.arrival) })
	for k := range stakes {
		s := &stakes[k]
		place[s.claimant] = k
		if s.claimant.jobs.len() > 0 {
			s.priority = s.claimant.priority()
		} else {
			s.priority = lastPriority
		}
	}
	for _, h := range d.c.members.roster.all() {
		site := 0
		if d.c.claims.fair.terms.EachSite {
			site = slices.Index(d.c.claims.fair.order, h.counted.site)
		}
		running := 0
		for _, l := range h.leases {
			if !l.is(leasing.Open) || running == h.slots {
				continue
			}
			running++
			s := &stakes[place[l.job.claim]]
			s.held[site]++
			s.priority = max(s.priority, l.job.priority)
			if d.mayMakeRoom(l, j) {
				s.gives[site] = append(s.gives[site], l)
			}
		}
	}
	return stakes
}

// mayMakeRoom reports whether a task can be stopped with nothing lost, so that another job's
// could run there. What was given in this Step its worker has not heard of.
func (d *dispatch) mayMakeRoom(l *lease, j *job) bool {
	h := l.host
	_, paused := h.paused[j]
	return d.c.migration.mayMove(l) && h.eligible() && !paused && h.memory >= leastMemory(j.spec) &&
		l.start.Before(d.c.now) && l.job != j
}

// divideAnew notes what each would have if nobody had anything, and returns the sites.
func (d *dispatch) divideAnew(stakes []stake) []share.Site {
	f := &d.c.claims.fair
	var sites []share.Site
	add := func(name string, a amounts) {
		free := a
		free.used = 0
		sites = append(sites, free.offer(name, opening{a.slots, a.memory}))
	}
	if f.terms.EachSite {
		for _, s := range f.order {
			add(s.name, s.sums)
		}
	} else {
		add("", f.all)
	}
	if !f.terms.Levels {
		return sites
	}
	claims := make([]share.Claimant, len(stakes))
	for k := range stakes {
		s := &stakes[k]
		claims[k] = d.claimOfStake(s)
		for _, j := range s.claimant.jobs.items {
			claims[k].Demand += j.startable()
		}
		for _, n := range s.held {
			claims[k].Demand += n
		}
	}
	for _, g := range d.anew().Grow(d.c.now, claims, sites) {
		if g.Slots > 0 {
			stakes[g.Claimant].due[max(g.Site, 0)] += g.Slots
		}
	}
	return sites
}

// anew is a policy as the one that divides what is idle, with a memory of its own: what
// it is asked here is nobody's turn.
func (d *dispatch) anew() share.Policy {
	if d.c.claims.fair.ideal == nil {
		f := fairnessOf(&d.c.cfg.Rules)
		d.c.claims.fair.ideal = f.policy
	}
	return d.c.claims.fair.ideal
}

func (d *dispatch) claimOfStake(s *stake) share.Claimant {
	cl := s.claimant
	return share.Claimant{ID: cl.id, Priority: s.priority, Weight: d.c.claims.weight(cl),
		Sorting: cl.of.sorting(), Task: share.Amount{Cores: 1, Memory: leastMemory(cl.of.spec)}}
}

// shrink has up to need slots of a site given back for a job, and returns how many are.
func (d *dispatch) shrink(j *job, stakes []stake, site, need int) (given int) {
	var givers []*stake
	var claims []share.Claimant
	for k := range stakes {
		s := &stakes[k]
		n := len(s.gives[site])
		switch {
		case s.claimant == j.claim:
			continue
		case d.c.claims.fair.terms.Levels:
			n = min(n, s.held[site]-s.due[site])
		case s.priority >= j.priority:
			continue
		}
		if n > 0 {
			claim := d.claimOfStake(s)
			claim.Held = []share.Holding{{Site: site, Slots: n}}
			givers, claims = append(givers, s), append(claims, claim)
		}
	}
	for _, r := range d.anew().Shrink(claims, site, need) {
		why := fmt.Sprintf("the job %s has come: %v", j.spec.Name, r.Reason)
		for _, l := range d.givenUp(givers[r.Claimant].gives[site], r.Slots) {
			d.giveBack(l, why)
			given++
		}
	}
	return given
}

// givenUp chooses which tasks a claimant gives up: of those of its lowest priority that
// which has most left. None of them loses anything.
func (d *dispatch) givenUp(leases []*lease, n int) []*lease {
	slices.SortStableFunc(leases, func(a, b *lease) int { return cmp.Compare(a.job.priority, b.job.priority) })
	var out []*lease
	for len(leases) > 0 && len(out) < n {
		k := 1
		for k < len(leases) && leases[k].job.priority == leases[0].job.priority {
			k++
		}
		running := make([]share.Running, k)
		for i, l := range leases[:k] {
			work, _ := l.job.workOf(l.task.index)
			running[i].Left, _ = d.c.migration.progressOf(l, work)
		}
		for _, i := range share.LeastLost(running, n-len(out), nil) {
			out = append(out, leases[i])
		}
		leases = leases[k:]
	}
	return out
}

// giveBack has a task stopped with its state saved. What waits at its worker for a slot,
// of any job, is asked back too: it would have the slot at once. So would another task of
// the job, since the worker need not prepare anything for it as for the one that comes.
func (d *dispatch) giveBack(l *lease, why string) {
	h := l.host
	l.move = &move{why: why, begun: d.c.now, by: d.c.now.Add(d.c.cfg.MoveWithin)}
	d.c.transfers.orderSave(l)
	d.c.members.alarm(h, l.move.by)
	d.c.members.pauseJob(h, l.job, d.c.cfg.RefusalPause, "a task of the job has just made room there for another job")
	d.c.decided(l.taskID(), "saving", h.peer,
		task.ClipMessage("it gives back its slot, to go on later from where it is: "+why))
	d.clearAhead(h)
}

// clearAhead asks back what waits at a host for a slot.
func (d *dispatch) clearAhead(h *host) {
	running := 0
	for _, o := range h.leases {
		if !o.is(leasing.Open) {
			continue
		}
		if running++; running > h.slots && o.is(leasing.Recallable) && o.start.Before(d.c.now) {
			o.take(leasing.AsksBack)
			d.c.outbox.drop(h.peer, o.taskID(), o.attempt, message.DropRecall)
		}
	}
}
