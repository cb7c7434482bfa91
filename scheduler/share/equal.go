package share

import "godwit/internal/spec"

func init() {
	register("equal", kind{
		params: giveParam,
		does:   "towards equal holdings: who holds least gets the next idle slot",
		make: func(ps *spec.Params) *dividing {
			return &dividing{divide: levelHoldings(nil, toEqual), give: readGive(ps, nil), terms: Terms{Levels: true}}
		},
	})
	register("weighted", kind{
		params: giveParam,
		does:   "towards holdings in proportion to weights",
		make: func(ps *spec.Params) *dividing {
			return &dividing{divide: levelHoldings(byWeight, toWeighted), give: readGive(ps, byWeight),
				terms: Terms{Levels: true, First: ByWeight}}
		},
	})
}

// widths sets how wide each claimant's vessel is; nil: all alike.
type widths func(r *round, f *filling, who []int)

func byWeight(r *round, f *filling, who []int) {
	for _, i := range who {
		f.width[i] = r.claimants[i].weight()
	}
}

// levelHoldings fills up to equal holdings: the max-min fair division of slots,
// by weight. Other than equal parts of what is idle, it makes up for what was lost
// to owners, who take from some and not from others.
func levelHoldings(set widths, why reasonKind) func(r *round, who []int) {
	return func(r *round, who []int) {
		f := &r.fill
		f.begin(r, who)
		if set != nil {
			set(r, f, who)
		}
		f.run(r)
		for _, i := range who {
			if n := f.added[i]; n > 0 {
				r.grant(i, AnySite, n, Reason{kind: why, n: r.held[i], m: r.held[i] + n, x: f.width[i]})
			}
		}
	}
}
