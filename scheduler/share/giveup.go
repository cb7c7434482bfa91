package share

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// A Running is a task that a claimant runs at a site that wants slots back.
type Running struct {
	// Lost is the work that would be done again if the task stopped now: all that it
	// has done, or what it did since its last checkpoint; 0 if it can be moved.
	Lost time.Duration
	// Left is the work that it still has to do; 0 if that is not known.
	Left time.Duration
}

// A Giver chooses which tasks a claimant gives up (launcher preemption policy,
// Grundeken 2009, section 3.7.2). It returns the less of n and len(running)
// distinct indexes of running, which it does not change.
type Giver func(running []Running, n int, rng *rand.Rand) []int

// givers are by name; the first is the default.
var givers = []struct {
	name string
	give Giver
}{
	{"least-lost", LeastLost},
	{"random", Random},
}

// ParseGiver returns the giver of that name: least-lost ("" too), or random.
func ParseGiver(name string) (Giver, error) {
	var names []string
	for i, g := range givers {
		if name == g.name || name == "" && i == 0 {
			return g.give, nil
		}
		names = append(names, g.name)
	}
	return nil, fmt.Errorf("share: there is no way to give up tasks called %q: use one of %s", name,
		strings.Join(names, ", "))
}

// Random gives up any, as published.
func Random(running []Running, n int, rng *rand.Rand) []int {
	n = max(0, min(n, len(running)))
	all := make([]int, len(running))
	for i := range all {
		all[i] = i
	}
	for k := range n {
		j := k + rng.IntN(len(all)-k)
		all[k], all[j] = all[j], all[k]
	}
	return all[:n]
}

// LeastLost gives up those that lose the least work; among equals those that have
// the most to do yet, then the later. It needs no rng.
func LeastLost(running []Running, n int, _ *rand.Rand) []int {
	all := make([]int, len(running))
	for i := range all {
		all[i] = i
	}
	slices.SortFunc(all, func(a, b int) int {
		x, y := &running[a], &running[b]
		return cmp.Or(cmp.Compare(x.Lost, y.Lost), cmp.Compare(y.Left, x.Left), cmp.Compare(b, a))
	})
	return all[:max(0, min(n, len(all)))]
}

// PullAny takes a task for a slot that asks for one: any of those that wait
// (single-task launcher pull, Grundeken 2009, section 3.7.2). ok is false if none
// does: the slot is given up then.
func PullAny(waiting int, rng *rand.Rand) (i int, ok bool) {
	if waiting <= 0 {
		return 0, false
	}
	return rng.IntN(waiting), true
}
