package message

import (
	"iter"
	"maps"
	"slices"

	"godwit/task"
)

// RemoteOutputs lists the outputs of a result that are blocks of their own: not empty,
// and not in the result itself.
func RemoteOutputs(r *task.Result) []task.CID {
	var cids []task.CID
	for i := range r.Outputs {
		if o := &r.Outputs[i]; o.Size > 0 && len(o.Inline) == 0 {
			cids = append(cids, o.CID)
		}
	}
	return cids
}

// SizesOf returns how many bytes the outputs of a result have, by its word.
func SizesOf(r *task.Result) map[task.CID]int64 {
	sizes := map[task.CID]int64{}
	for i := range r.Outputs {
		sizes[r.Outputs[i].CID] = r.Outputs[i].Size
	}
	return sizes
}

// OutputsOf lists the output blocks that keep a held result readable: those of
// the first of the agreeing results that are not in the result itself; of a task that
// failed what it said before, in each of its runs.
func OutputsOf(t *TaskSummary) []task.CID {
	switch {
	case len(t.Results) == 0:
		return nil
	case !t.Failed:
		return RemoteOutputs(&t.Results[0])
	}
	var out []task.CID
	for c := range lastWords(t) {
		if !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	return out
}

// lastWords gives the standard error of each run of a task that failed, by the block that it is in, and its
// size: where it is no larger than one is kept.
func lastWords(t *TaskSummary) iter.Seq2[task.CID, int64] {
	return func(yield func(task.CID, int64) bool) {
		for i := range t.Results {
			for k := range t.Results[i].Outputs {
				o := &t.Results[i].Outputs[k]
				if o.Name == task.Stderr && o.Size > 0 && len(o.Inline) == 0 && o.Size <= task.MaxLastWords+task.SealedSpare &&
					!yield(o.CID, o.Size) {
					return
				}
			}
		}
	}
}

// SizesOfEnd returns how many bytes the blocks of OutputsOf have, by the results' word.
func SizesOfEnd(t *TaskSummary) map[task.CID]int64 {
	if !t.Failed {
		return SizesOf(&t.Results[0])
	}
	return maps.Collect(lastWords(t))
}
