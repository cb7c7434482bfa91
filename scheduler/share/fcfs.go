package share

import "godwit/internal/spec"

func init() {
	register("fcfs", kind{
		does: "all that is idle to the first by priority, then by arrival; who came last gives back first",
		make: func(*spec.Params) *dividing {
			return &dividing{divide: inTurn, give: lastFirst, terms: Terms{First: ByArrival}}
		},
	})
}

// inTurn gives the first what it wants, then the next.
func inTurn(r *round, who []int) {
	for _, i := range who {
		if n := min(r.want[i], r.pool); n > 0 {
			r.grant(i, AnySite, n, Reason{kind: inOrder, n: r.pool})
		}
	}
}
