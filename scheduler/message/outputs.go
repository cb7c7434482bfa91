package message

import "godwit/task"

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
// the first of the agreeing results that are not in the result itself. It is
// nil for a task that failed.
func OutputsOf(t *TaskSummary) []task.CID {
	if t.Failed || len(t.Results) == 0 {
		return nil
	}
	return RemoteOutputs(&t.Results[0])
}
