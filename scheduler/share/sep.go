package share

import "godwit/internal/spec"

func init() {
	k := kind{
		params: "of",
		does: "what is idle in equal parts, of each site (Site-EquiPartition); of=holdings: towards equal holdings at " +
			"each site, for some tens of sites",
		make: func(ps *spec.Params) *dividing {
			if ps.Choice("of", "idle", "holdings") == 1 {
				return &dividing{divide: levelEachSite, give: mostAtSite, perSite: true, terms: Terms{Sites: true, Levels: true}}
			}
			return &dividing{divide: equalOfEachSite, give: equally, perSite: true, terms: Terms{Sites: true, First: ByTurn}}
		},
	}
	register("sep", k)
	register("equipartition-persite", k)
}

// equalOfEachSite is Site-EquiPartition (Grundeken 2009, section 3.7.1): equal
// parts of each site, so that quick and slow, quiet and busy sites are everybody's
// alike.
func equalOfEachSite(r *round, who []int) {
	r.parts.join(r, who)
	for site := range r.sites {
		idle := r.idle[site]
		if idle == 0 {
			continue
		}
		why := Reason{kind: equalOfSite, n: idle, m: len(r.parts.who)}
		r.parts.deal(r, idle, func(i, n int) { r.grant(i, site, n, why) })
	}
	r.parts.leave(r)
}

// levelEachSite makes up, site by site, for what owners took from some and not from
// others, where equal parts of what is idle leave that as it is. It takes time for
// each claimant at each site with idle slots: sites should be groups of members,
// some tens of them, where the other policies also do with members one by one.
func levelEachSite(r *round, who []int) {
	r.turns.order(who)
	held := r.fill.held
	for site := range r.sites {
		n, least, most := r.idle[site], Unbounded, 0
		if n == 0 {
			continue
		}
		held = held[:0]
		for _, i := range who {
			h := r.claimants[i].heldAt(site)
			held = append(held, h)
			if r.want[i] > 0 {
				least, most = min(least, h), max(most, h)
			}
		}
		added := func(k, level int) int { return min(max(0, level-held[k]), r.want[who[k]]) }
		low, high := least, most+n+1 // low can be given to all, high cannot or makes no difference
		for high-low > 1 {
			level, sum := low+(high-low)/2, 0
			for k := range who {
				sum += added(k, level)
			}
			if sum <= n {
				low = level
			} else {
				high = level
			}
		}
		r.raise(who, site, func(k int) (now, next int) { return added(k, low), added(k, low+1) })
		r.turns.order(who)
	}
	r.fill.held = held
}

// raise grants what each gets at a level of a site, and by turns what is left to
// those who would get more at the next.
func (r *round) raise(who []int, site int, added func(k int) (now, next int)) {
	left := r.idle[site]
	for k := range who {
		now, _ := added(k)
		left -= now
	}
	for k, i := range who {
		n, next := added(k)
		if next > n && left > 0 {
			n, left = n+1, left-1
			r.turns.back(r.claimants, i)
		}
		if n > 0 {
			had := r.claimants[i].heldAt(site)
			r.grant(i, site, n, Reason{kind: toEqualAtSite, n: had, m: had + n})
		}
	}
}

// mostAtSite takes from those who hold most at the site.
func mostAtSite(r *round, who []int, site, need int) {
	f := &r.fill
	f.begin(r, who)
	for _, i := range who {
		r.held[i] = r.claimants[i].heldAt(site)
	}
	f.lower(r, who, need, func(i int) int { return r.held[i] })
	r.releaseAdded(who, need)
}
