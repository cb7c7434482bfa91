package node

import (
	"cmp"
	"slices"
	"time"

	"godwit/overlay"
	simulated "godwit/sim/swarm"
	"godwit/trace"
)

// matchCells is a scenario of an overlay that divides into two cells. A job that comes in either is lent to the
// other as far as that has room; the leader of the borrower dies with a loan, and who leads there next goes on
// with it.
var matchCells = matchCase{
	name: "two cells", placement: "fcfs", migration: "reactive",
	cells: overlay.CellRule{Most: 9, Least: 3, Join: 4, Ready: 7}, together: 400 * time.Millisecond,
	grace: 20 * time.Second, hosts: 10, length: 15 * time.Minute, detect: 30 * time.Second,
	ends:    []simulated.Ending{3: simulated.Crash, 9: 0},
	changes: []change{{455100 * time.Millisecond, 3, trace.Unavailable}}, // leads the borrower
	jobs: []matchJob{
		// Whoever begins or ends a task says its advert anew, and by that that it knows of cells.
		{at: 33800 * time.Millisecond, node: 1, tasks: 10, work: 4 * time.Second},
		{at: 400300 * time.Millisecond, node: 1, tasks: 20, work: 70 * time.Second},
		{at: 700300 * time.Millisecond, node: 8, tasks: 14, work: 55 * time.Second},
	},
	shows: []string{"done", "lent", "is in cell 0", "is in cell 1"},
}

// settled has decisions that were near to each other in time, one after the other, be in the order of hosts: at
// one moment several members begin, and which of them is heard first hangs on milliseconds.
func (c *matchCase) settled(all []happening) []happening {
	out := slices.Clone(all)
	for from := 0; from < len(out); {
		to := from + 1
		for to < len(out) && out[to].at.Sub(out[to-1].at) <= c.together {
			to++
		}
		if c.together > 0 {
			slices.SortStableFunc(out[from:to], func(a, b happening) int {
				return cmp.Or(cmp.Compare(a.host, b.host), cmp.Compare(a.what, b.what))
			})
		}
		from = to
	}
	return out
}
