package simpetek

import (
	"math"
	"slices"
	"time"

	"godwit/scheduler/chunk"
)

// fixedShares gives each node in each round of a plan its share of the round by cores, and
// no node the share of another. The policy that it wraps keeps the books and makes copies;
// it has to take whatever ask.Most allows.
type fixedShares struct {
	chunk.Policy
	runs   int64
	budget []int64 // of each round; the last round has what is left of the job
	cores  []int64 // by chunk.Node
	left   []int64 // runs of the node's share that it has not had
	round  []int   // next one of the node
}

// A copyingShares is a fixedShares that makes copies.
type copyingShares struct {
	*fixedShares
	copier chunk.Copier
}

// Copy implements chunk.Copier.
func (c *copyingShares) Copy(now time.Time, n chunk.Node) (of chunk.Node, runs int, why chunk.Reason, ok bool) {
	return c.copier.Copy(now, n)
}

// newFixedShares wraps a policy for a job, with the rounds of a plan.
func newFixedShares(p chunk.Policy, plan triple, runs int64) chunk.Policy {
	f := &fixedShares{Policy: p, runs: runs, budget: plan.rounds(runs)}
	if c, ok := p.(chunk.Copier); ok {
		return &copyingShares{f, c}
	}
	return f
}

// rounds returns the runs of each round of SSSE (section 3.3.2), which together are all
// runs. What floors leave over belongs to the last round.
func (t triple) rounds(runs int64) []int64 {
	var out []int64
	left := runs
	for r := 1; r < t.peak+t.k; r++ {
		angle := float64(r) * math.Pi / (2 * float64(t.peak))
		if r >= t.peak {
			angle = float64(r+t.k-t.peak) * math.Pi / (2 * float64(t.k))
		}
		// A budget such as 12.999999999999998 is 13.
		b := min(left, int64(float64(runs)/t.m*math.Sin(angle)+1e-9))
		out = append(out, b)
		left -= b
	}
	out[len(out)-1] += left
	return out
}

// Join implements chunk.Policy.
func (f *fixedShares) Join(m chunk.Member) chunk.Node {
	n := f.Policy.Join(m)
	for int(n) >= len(f.cores) {
		f.cores = append(f.cores, 0)
	}
	f.cores[n] = int64(m.Cores)
	f.left, f.round = nil, nil
	return n
}

// share divides all runs by cores: to each node the whole runs of its share, and of those
// that are over one to each of the largest remainders.
func (f *fixedShares) share() {
	sum := int64(0)
	for _, c := range f.cores {
		sum += c
	}
	f.left, f.round = make([]int64, len(f.cores)), make([]int, len(f.cores))
	over := f.runs
	order := make([]int, len(f.cores))
	for i, c := range f.cores {
		f.left[i] = f.runs * c / sum
		over -= f.left[i]
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(f.runs*f.cores[b]%sum - f.runs*f.cores[a]%sum) })
	for _, i := range order[:over] {
		f.left[i]++
	}
}

// Size implements chunk.Policy.
func (f *fixedShares) Size(now time.Time, n chunk.Node, ask chunk.Ask) (int, chunk.Reason) {
	if f.left == nil {
		f.share()
	}
	sum := int64(0)
	for _, c := range f.cores {
		sum += c
	}
	want := int64(0)
	for want == 0 && f.round[n] < len(f.budget) {
		want = min(f.left[n], (f.budget[f.round[n]]*f.cores[n]+sum/2)/sum)
		if f.round[n]++; f.round[n] == len(f.budget) {
			want = f.left[n]
		}
	}
	if want == 0 {
		return 0, chunk.Reason{}
	}
	runs, why := f.Policy.Size(now, n, chunk.Ask{Remaining: ask.Remaining, Most: int(want)})
	f.left[n] -= int64(runs)
	return runs, why
}
