package share

import (
	"cmp"
	"slices"
	"time"

	"godwit/internal/spec"
)

// The job sorting rules that Zhang names beside first come, first served (section 2.1.2): the
// first by the rule has all that it wants, then the next. They obey priorities, and arrival
// decides among equals. Idle slots that the first cannot use, because its tasks do not fit there,
// are for those behind it (backfilling). A task takes one slot, so this never delays the first.
func init() {
	for name, k := range map[string]struct {
		does  string
		order Order
	}{
		"edf":  {"all that is idle to the job with the earliest deadline; jobs without one come last", ByDeadline},
		"lttr": {"all that is idle to the job with the most work (longest time to run)", ByMostWork},
		"sjf":  {"all that is idle to the job with the least work; jobs of unknown work come last", ByLeastWork},
	} {
		register(name, kind{does: k.does + ", by priority first", make: func(*spec.Params) *dividing {
			return &dividing{divide: k.order.inTurn, give: k.order.lastFirst, terms: Terms{First: k.order}}
		}})
	}
}

// A Sorting is what job sorting rules go by. The zero Sorting knows nothing.
type Sorting struct {
	Due  time.Time // when the job has to be done; zero if it has no deadline
	Work float64   // seconds that all its tasks take on a reference core; 0 unknown
}

// Compare returns which of two claimants comes first by a job sorting rule: less than 0 if it is
// a. By other orders, which do not sort, it returns 0.
func (o Order) Compare(a, b Sorting) int {
	switch o {
	case ByDeadline:
		return cmp.Or(last(a.Due.IsZero(), b.Due.IsZero()), a.Due.Compare(b.Due))
	case ByLeastWork:
		return cmp.Or(last(!(a.Work > 0), !(b.Work > 0)), cmp.Compare(a.Work, b.Work))
	case ByMostWork:
		return cmp.Compare(b.Work, a.Work)
	}
	return 0
}

// last orders who has to come last behind who has not.
func last(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// sort sorts claimants that are in the order of arrival.
func (o Order) sort(r *round, who []int) {
	slices.SortStableFunc(who, func(a, b int) int { return o.Compare(r.claimants[a].Sorting, r.claimants[b].Sorting) })
}

func (o Order) inTurn(r *round, who []int) {
	o.sort(r, who)
	for _, i := range who {
		if n := min(r.want[i], r.pool); n > 0 {
			r.grant(i, AnySite, n, Reason{kind: sorted, n: int(o), m: r.pool})
		}
	}
}

func (o Order) lastFirst(r *round, who []int, site, need int) {
	o.sort(r, who)
	why := Reason{kind: givesLastSorted, n: need, m: len(who)}
	for _, i := range slices.Backward(who) {
		n := min(need, r.claimants[i].heldAt(site))
		r.release(i, n, why)
		need -= n
	}
}
