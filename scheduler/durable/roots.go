package durable

import (
	"maps"
	"slices"

	"godwit/task"
)

// A RootSet gathers blocks that must be kept. The zero value is empty.
type RootSet struct{ cids map[task.CID]bool }

// Add puts blocks into the set.
func (r *RootSet) Add(cids ...task.CID) {
	if r.cids == nil {
		r.cids = map[task.CID]bool{}
	}
	for _, c := range cids {
		r.cids[c] = true
	}
}

// Sorted returns the blocks in order, each once.
func (r *RootSet) Sorted() []task.CID { return slices.Sorted(maps.Keys(r.cids)) }

// JobSizes returns how many bytes a job's inputs and tables have, by its record.
func JobSizes(spec *task.Job) map[task.CID]int64 {
	sizes := map[task.CID]int64{}
	for i := range spec.Inputs {
		sizes[spec.Inputs[i].CID] = spec.Inputs[i].Size
	}
	for _, t := range spec.Tables() {
		sizes[t.CID] = t.Size
	}
	return sizes
}

// JobBlocks lists what a job needs held so that it can outlive its submitter.
func JobBlocks(id task.JobID, spec *task.Job) []task.CID {
	cids := append([]task.CID{task.CID(id)}, spec.Modules()...)
	n := len(cids)
	for i := range spec.Inputs {
		if f := &spec.Inputs[i]; f.Size > 0 {
			cids = append(cids, f.CID)
		}
	}
	for _, t := range spec.Tables() {
		cids = append(cids, t.CID)
	}
	slices.Sort(cids[n:])
	return slices.Compact(cids)
}
