package share

import "godwit/internal/spec"

func init() {
	register("drf", kind{
		params: giveParam,
		does:   "towards equal parts, by weight, of the resource that each uses most of (Dominant Resource Fairness)",
		make: func(ps *spec.Params) *dividing {
			return &dividing{divide: dominant, give: readGive(ps, byDominantShare), terms: Terms{Levels: true, First: ByWeight}}
		},
	})
}

// need is what a task of the claimant takes.
func (c *Claimant) need() Amount {
	a := Amount{max(0, c.Task.Cores), max(0, c.Task.Memory)}
	if a.Cores == 0 {
		a.Cores = 1
	}
	return a
}

// part is a task's dominant share: the largest part that it takes of any resource
// of all sites together.
func (c *Claimant) part(capacity Amount) float64 {
	need, part := c.need(), 0.0
	if capacity.Cores > 0 {
		part = float64(need.Cores) / float64(capacity.Cores)
	}
	if capacity.Memory > 0 {
		part = max(part, float64(need.Memory)/float64(capacity.Memory))
	}
	return part
}

// byDominantShare makes a claimant's vessel as wide as its weight, in tasks.
func byDominantShare(r *round, f *filling, who []int) {
	for _, i := range who {
		if part := r.claimants[i].part(r.capacity); part > 0 {
			f.width[i] = r.claimants[i].weight() / part
		}
	}
}

// dominant is Dominant Resource Fairness (Ghodsi, Zaharia, Hindman, Konwinski,
// Shenker and Stoica, NSDI 2011: algorithm 1, and section 4.3 for weights). Tasks
// of a claimant are alike. One whose next task has no room is passed by and the
// others go on, where the algorithm as printed stops. All sites are one pool, as
// they are there: what does not fit any one member the placement leaves waiting.
func dominant(r *round, who []int) {
	f := &r.fill
	f.begin(r, who)
	byDominantShare(r, f, who)
	for _, i := range who {
		if f.need[i] = r.claimants[i].need(); r.capacity.Memory == 0 {
			f.need[i].Memory = 0
		}
	}
	f.run(r)
	r.free = f.free
	for _, i := range who {
		if n := f.added[i]; n > 0 {
			c := &r.claimants[i]
			all := r.held[i] + n
			r.grant(i, AnySite, n, Reason{kind: toDominant, n: r.held[i], m: all, x: float64(all) * c.part(r.capacity),
				y: c.weight()})
		}
	}
}
