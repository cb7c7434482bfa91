package ledger

import (
	"cmp"
	"slices"

	"godwit/task"
)

// Results of a task agree if they are independent: no worker answers for two of them, neither as
// who ran the task nor as who left a state that a run went on from. Else one liar, whose state
// two others went on from, would make these agree. See task.Independent.

// searchSteps bounds the search for the most results that are independent. With results of runs
// that began with the task, or with few that did not, it takes one step for each.
const searchSteps = 1 << 12

// AgreeIn returns how many results that say the same agree.
func AgreeIn(same []task.Result) int {
	sorted := slices.Clone(same)
	slices.SortStableFunc(sorted, func(a, b task.Result) int { return cmp.Compare(a.Worker, b.Worker) })
	return len(independent(sorted))
}

// independent returns as many of the results as are independent of one another, in their order;
// of results that are not empty at least one.
func independent(results []task.Result) []task.Result {
	if len(results) <= 1 || !slices.ContainsFunc(results, hasChain) {
		return firstOfEach(results)
	}
	s := apartSearch{sets: make([][]task.PeerID, len(results))}
	for i := range results {
		workers, whole := results[i].AnsweredBy()
		if whole {
			s.sets[i] = workers
			s.order = append(s.order, i)
		}
	}
	// Those for whom few answer first: the first try is the best then, mostly.
	slices.SortStableFunc(s.order, func(a, b int) int { return len(s.sets[a]) - len(s.sets[b]) })
	s.try(0, nil)
	if len(s.best) == 0 {
		return results[:1]
	}
	slices.Sort(s.best)
	out := make([]task.Result, len(s.best))
	for k, i := range s.best {
		out[k] = results[i]
	}
	return out
}

// firstOfEach returns the first result of each worker, of results sorted by worker.
func firstOfEach(results []task.Result) []task.Result {
	same := func(a, b task.Result) bool { return a.Worker == b.Worker }
	for i := 1; i < len(results); i++ {
		if same(results[i-1], results[i]) {
			return slices.CompactFunc(slices.Clone(results), same)
		}
	}
	return results
}

func hasChain(r task.Result) bool { return r.Trail != nil && len(r.Trail.Began) > 0 }

// alone reports whether its worker answers for a result and nobody else.
func alone(r *task.Result) bool {
	workers, whole := r.AnsweredBy()
	return whole && len(workers) == 1
}

// An apartSearch looks for the most sets of which no two have a worker in common.
type apartSearch struct {
	sets  [][]task.PeerID
	order []int // in which they are tried
	best  []int
	steps int
}

// try goes on with the sets from the k-th on, beside those chosen.
func (s *apartSearch) try(k int, chosen []int) {
	if s.steps++; len(chosen) > len(s.best) {
		s.best = slices.Clone(chosen)
	}
	if k == len(s.order) || s.steps > searchSteps || len(chosen)+len(s.order)-k <= len(s.best) {
		return
	}
	set := s.sets[s.order[k]]
	if !slices.ContainsFunc(chosen, func(i int) bool { return !task.Apart(s.sets[i], set) }) {
		s.try(k+1, append(slices.Clip(chosen), s.order[k]))
	}
	s.try(k+1, chosen)
}
