package share

import (
	"cmp"
	"math"
	"slices"
	"time"

	"godwit/internal/spec"
)

// commonParams are those that every policy has.
const commonParams = "aging guard load local per shrink"

// dividing is what all policies have in common: priorities, the guard, whose
// turn it is, and memory.
type dividing struct {
	// divide grants slots to claimants of one priority, in the order of their
	// arrival; all want some, and r.pool > 0.
	divide func(r *round, who []int)
	// give says who of one priority gives back at a site.
	give    func(r *round, who []int, site, need int)
	perSite bool // the guard is each site's, and so are grants
	terms   Terms
	guard   guard
	local   int
	turns   turns
	round   round
	levels  []int
}

func (p *dividing) readCommon(ps *spec.Params) {
	p.guard.read(ps)
	p.local = ps.Choice("local", "fair", "proportional", "drastic")
	p.terms.PerOwner = ps.Choice("per", "job", "owner") == 1
	p.terms.Aging = ps.Duration("aging", 0)
	p.terms.OnArrival = ps.Choice("shrink", "none", "arrival") == 1
	p.terms.EachSite, p.terms.Guarded = p.perSite, p.guard.mode != noGuard
}

// Terms implements Policy.
func (p *dividing) Terms() Terms { return p.terms }

// A round is one call, and the memory for the next.
type round struct {
	claimants []Claimant
	sites     []Site
	turns     *turns
	idle      []int // that may still be granted, by site
	pool      int   // of all of these, that the guard leaves
	free      Amount
	capacity  Amount
	want      []int // of each claimant, at most pool at first
	got       []int
	held      []int // of each claimant, in all
	hadIdle   int   // before the guard and what is queued
	guarded   bool
	queued    bool
	first     int // pool before any claimant had some
	used, all int // slots of all sites
	grants    []Grant
	releases  []Release
	parts     ring
	fill      filling
}

// Grow implements Policy.
func (p *dividing) Grow(_ time.Time, claimants []Claimant, sites []Site) []Grant {
	r := &p.round
	r.begin(p, claimants, sites)
	for rest := p.byPriority(-1); len(rest) > 0 && r.pool > 0; {
		var who []int
		who, rest = p.level(rest)
		if who = slices.DeleteFunc(who, func(i int) bool { return r.want[i] == 0 }); len(who) > 0 {
			p.divide(r, who)
		}
	}
	r.refuse()
	r.claimants, r.sites = nil, nil
	return r.grants
}

// byPriority returns the claimants by priority, those of one as they arrived: the lowest
// first, or, if up is negative, the highest.
func (p *dividing) byPriority(up int) []int {
	claimants := p.round.claimants
	p.levels = p.levels[:0]
	for i := range claimants {
		p.levels = append(p.levels, i)
	}
	slices.SortFunc(p.levels, func(a, b int) int {
		return cmp.Or(up*cmp.Compare(claimants[a].Priority, claimants[b].Priority), cmp.Compare(a, b))
	})
	return p.levels
}

// level returns those of the first priority in the list, and the rest.
func (p *dividing) level(list []int) (first, rest []int) {
	n := 1
	for n < len(list) && p.round.claimants[list[n]].Priority == p.round.claimants[list[0]].Priority {
		n++
	}
	return list[:n:n], list[n:]
}

func (r *round) begin(p *dividing, claimants []Claimant, sites []Site) {
	r.claimants, r.sites, r.turns = claimants, sites, &p.turns
	r.turns.begin(claimants)
	r.grants = r.grants[:0]
	r.open(p)
	r.want, r.got, r.held = r.want[:0], r.got[:0], r.held[:0]
	for i := range claimants {
		r.want = append(r.want, max(0, min(claimants[i].Demand, r.pool)))
		r.got = append(r.got, 0)
		r.held = append(r.held, claimants[i].held())
	}
}

// open notes what may be granted at each site.
func (r *round) open(p *dividing) {
	r.idle, r.pool, r.hadIdle = r.idle[:0], 0, 0
	r.used, r.all, r.guarded, r.queued = 0, 0, false, false
	r.free, r.capacity = Amount{}, Amount{}
	for k := range r.sites {
		s := &r.sites[k]
		idle := max(0, s.Idle)
		r.hadIdle += idle
		r.used += max(0, s.Used)
		r.all += max(0, s.Total)
		if s.Queued > 0 {
			r.queued = r.queued || idle > 0
			idle = 0
		}
		if p.perSite {
			var guarded bool
			idle, guarded = p.guard.room(s.Used, s.Total, idle)
			r.guarded = r.guarded || guarded
		}
		r.idle = append(r.idle, idle)
		r.pool += idle
		r.resources(s, idle > 0)
	}
	if !p.perSite {
		r.pool, r.guarded = p.guard.room(r.used, r.all, r.pool)
	}
	r.first = r.pool
}

// resources adds what a site has, and what of it is free if something may be
// granted there.
func (r *round) resources(s *Site, open bool) {
	capacity, free := s.Capacity, s.Free
	if capacity.Cores <= 0 {
		capacity.Cores, free.Cores = int64(s.Total), int64(s.Idle)
	}
	r.capacity.Cores += max(0, capacity.Cores)
	r.capacity.Memory += max(0, capacity.Memory)
	if open {
		r.free.Cores += max(0, free.Cores)
		r.free.Memory += max(0, free.Memory)
	}
}

// grant gives slots of a site, or of any.
func (r *round) grant(i, site, n int, why Reason) {
	r.grants = append(r.grants, Grant{i, site, n, why})
	r.got[i] += n
	r.want[i] -= n
	r.pool -= n
	if site != AnySite {
		r.idle[site] -= n
	}
}

// refuse tells those that want some and got none why.
func (r *round) refuse() {
	for i := range r.claimants {
		if r.got[i] == 0 && r.claimants[i].Demand > 0 {
			r.grants = append(r.grants, Grant{i, AnySite, 0, r.refusal()})
		}
	}
}

func (r *round) refusal() Reason {
	switch {
	case r.hadIdle == 0:
		return Reason{kind: nothingIdle}
	case r.first == 0 && r.guarded:
		return Reason{kind: overloaded, n: r.used, m: r.all}
	case r.first == 0 && r.queued:
		return Reason{kind: othersQueued}
	}
	return Reason{kind: othersTurn, n: r.first, m: len(r.claimants)}
}

// held is how many slots the claimant has.
func (c *Claimant) held() int {
	n := 0
	for _, h := range c.Held {
		n += max(0, h.Slots)
	}
	return n
}

// heldAt is how many of them are at a site.
func (c *Claimant) heldAt(site int) int {
	if k, ok := slices.BinarySearchFunc(c.Held, site, func(h Holding, s int) int { return cmp.Compare(h.Site, s) }); ok {
		return max(0, c.Held[k].Slots)
	}
	return 0
}

// weight is the claimant's, in bounds within which shares are exact enough.
func (c *Claimant) weight() float64 {
	const least, most = 1e-6, 1e6
	if !(c.Weight > 0) || math.IsInf(c.Weight, 1) {
		return 1
	}
	return min(max(c.Weight, least), most)
}
