package scheduler

import (
	"maps"
	"slices"

	"godwit/task"
)

// A rootSet gathers blocks that must be kept. The zero value is empty.
type rootSet struct{ cids map[task.CID]bool }

func (r *rootSet) add(cids ...task.CID) {
	if r.cids == nil {
		r.cids = map[task.CID]bool{}
	}
	for _, c := range cids {
		r.cids[c] = true
	}
}

func (r *rootSet) sorted() []task.CID { return slices.Sorted(maps.Keys(r.cids)) }
