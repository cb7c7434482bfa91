package task

import "slices"

// AnsweredBy returns the workers that answer for a state or a result: who came to it, and those that left the states of
// its chain, each once, who began last. whole says that these are all: a chain that is cut short hides who came before.
// For a state that is agreed on, and what came before it, nobody answers any more: see Witness.
func AnsweredBy(worker PeerID, chain []Link) (workers []PeerID, whole bool) {
	if k := slices.IndexFunc(chain, func(l Link) bool { return len(l.With) > 0 }); k >= 0 {
		workers, _ = plainly(worker, chain[:k])
		return workers, true
	}
	return plainly(worker, chain)
}

// plainly is AnsweredBy, whatever is agreed on.
func plainly(worker PeerID, chain []Link) (workers []PeerID, whole bool) {
	add := func(w PeerID) {
		if !slices.Contains(workers, w) {
			workers = append(workers, w)
		}
	}
	for k := range slices.Backward(chain) {
		add(chain[k].Voucher.Worker)
	}
	add(worker)
	slices.Reverse(workers)
	return workers, !CutShort(chain)
}

// AnsweredBy returns the workers that answer for the result; see the function of that name. A worker
// that hides what its run went on from answers for it alone, and lies.
func (r *Result) AnsweredBy() (workers []PeerID, whole bool) {
	if r.Trail == nil {
		return []PeerID{r.Worker}, true
	}
	return AnsweredBy(r.Worker, r.Trail.Began)
}

// Apart reports whether no worker is in both lists.
func Apart(a, b []PeerID) bool {
	return !slices.ContainsFunc(a, func(w PeerID) bool { return slices.Contains(b, w) })
}

// Independent reports whether results have nothing to do with one another: no worker answers for two of them, and of
// each it is known who does. One result alone is.
func Independent(results []Result) bool {
	seen := map[PeerID]bool{}
	for i := range results {
		workers, whole := results[i].AnsweredBy()
		if !whole && len(results) > 1 {
			return false
		}
		for _, w := range workers {
			if seen[w] {
				return false
			}
			seen[w] = true
		}
	}
	return true
}
