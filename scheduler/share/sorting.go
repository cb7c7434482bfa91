package share

import (
	"cmp"
	"slices"
	"time"

	"godwit/internal/spec"
)

// Zhang names these job sorting rules beside first come, first served (section 2.1.2). The rule's
// first job receives its whole demand, then the next job. Priorities are strict, and equal jobs
// are served in order of arrival. If the first job's tasks do not fit an idle slot, the coordinator
// fills the slot with later jobs (backfilling). This never delays the first job, because every task
// takes a single slot.
func init() {
	for name, k := range map[string]struct {
		does  string
		order Order
	}{
		"edf":  {"earliest deadline first: all idle slots to one job, then the next", ByDeadline},
		"lttr": {"longest time to run first: all idle slots to the job with the most work", ByMostWork},
		"sjf":  {"shortest job first: all idle slots to the job with the least work", ByLeastWork},
	} {
		register(name, kind{does: k.does, make: func(*spec.Params) *dividing {
			return &dividing{divide: k.order.inTurn, give: k.order.lastFirst, terms: Terms{First: k.order}}
		}})
	}
}

// Sorting is a job's key for the job sorting rules.
type Sorting struct {
	Due  time.Time // deadline; zero if the job has no deadline
	Work float64   // seconds of work of all tasks on a reference core; 0 unknown
}

// Compare compares two jobs by a job sorting rule. It returns a negative number if a comes first,
// and 0 if they are equal or the order is no such rule. Jobs without a deadline come last, and so
// do jobs of unknown work.
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

// last compares two conditions that put a job last.
func last(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// sort sorts claimants, which are in order of arrival.
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
