package swarm

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// A queue gives events by their time, then by rank, then in the order in which they were
// arranged, whatever is arranged meanwhile, and each once.
func TestQueueOrder(t *testing.T) {
	type arranged struct {
		at   time.Duration
		rank rank
		n    int
	}
	rapid.Check(t, func(t *rapid.T) {
		var q queue
		var want []arranged
		happened := -1
		now := time.Duration(0)
		for n := range rapid.IntRange(1, 200).Draw(t, "steps") {
			if rapid.IntRange(0, 2).Draw(t, "what") > 0 {
				a := arranged{now + time.Duration(rapid.IntRange(0, 5).Draw(t, "in")),
					rank(rapid.IntRange(0, int(going)).Draw(t, "rank")), n}
				q.add(a.at, a.rank, func() { happened = n })
				i, _ := slices.BinarySearchFunc(want, a, func(x, y arranged) int {
					if x.at != y.at {
						return int(x.at - y.at)
					}
					if x.rank != y.rank {
						return int(x.rank) - int(y.rank)
					}
					return x.n - y.n
				})
				want = slices.Insert(want, i, a)
				continue
			}
			end := now + time.Duration(rapid.IntRange(0, 5).Draw(t, "end"))
			e, ok := q.next(end)
			if due := len(want) > 0 && want[0].at <= end; ok != due {
				t.Fatalf("an event up to %v: %t, want %t of %v", end, ok, due, want)
			}
			if !ok {
				continue
			}
			if e.do(); happened != want[0].n || e.at != want[0].at {
				t.Fatalf("event %d at %v, want %v", happened, e.at, want[0])
			}
			now, want = e.at, want[1:]
		}
	})
}
