package share

import (
	"slices"

	"godwit/internal/spec"
)

func init() {
	k := kind{
		does: "what is idle in equal parts, all sites as one (Grid-EquiPartition)",
		make: func(*spec.Params) *dividing {
			return &dividing{divide: equalOfAllSites, give: equally, terms: Terms{Sites: true, First: ByTurn}}
		},
	}
	register("gep", k)
	register("equipartition-all", k)
}

// equalOfAllSites is Grid-EquiPartition (Grundeken 2009, section 3.7.1). Sites
// play no part in how much each gets. Where each gets it the thesis does not say:
// here they are runs of slots in the order of sites, one claimant's after the
// other's, which is what lets one claimant have a quiet site all to itself.
func equalOfAllSites(r *round, who []int) {
	pool, among := r.pool, len(who)
	r.parts.join(r, who)
	r.parts.deal(r, r.pool, func(i, n int) { r.got[i] = n })
	site := 0
	slices.Sort(who)
	for _, i := range who {
		left := r.got[i]
		r.got[i] = 0
		for left > 0 {
			for r.idle[site] == 0 {
				site++
			}
			n := min(left, r.idle[site])
			r.grant(i, site, n, Reason{kind: equalOfAll, n: pool, m: among})
			left -= n
		}
	}
	r.parts.leave(r)
}
