package node

import (
	"cmp"
	"context"
	"slices"

	"godwit/scheduler/message"
	"godwit/scheduler/submitter"
	"godwit/task"
)

// withRemoved adds the removed tasks to the status of a job of this node, at most limit from an index. The coordinator
// does not know that these tasks were removed, only that the submitter holds their ends.
func (q *queries) withRemoved(ctx context.Context, st message.JobStatus, from uint64, limit int) (message.JobStatus,
	error) {
	if st.Removed == 0 || limit <= 0 {
		return st, nil
	}
	limit = min(limit, MaxTaskList)
	h, err := q.heldBy(ctx, st.ID, func([]message.Range) []uint64 {
		m := q.overlays.submitted(st.ID)
		return firstOf(submitter.Removed(m.Submitter(), st.ID), from, limit)
	})
	if err != nil || len(h.results) == 0 {
		return st, err
	}
	_, spec, err := q.Submitted(ctx, st.ID)
	if err != nil {
		return st, err
	}
	list := slices.Clone(st.TasksList)
	for i := range h.results {
		t := h.results[i].Status(spec)
		at, there := slices.BinarySearchFunc(list, t.Index, func(t message.TaskStatus, i uint64) int {
			return cmp.Compare(t.Index, i)
		})
		if there {
			t.Attempts = list[at].Attempts
			list[at] = t
		} else {
			list = slices.Insert(list, at, t)
		}
	}
	st.TasksList = list[:min(len(list), limit)]
	return st, nil
}

// whyRemoved reports that the owner removed a task; not ok of any other, and of a job that this node did not submit.
func (q *queries) whyRemoved(ctx context.Context, id task.JobID, index *uint64) (w Why, ok bool) {
	if index == nil {
		return w, false
	}
	total, reason := uint64(0), ""
	err := q.look(ctx, func() {
		m := q.overlays.submitted(id)
		if m == nil {
			return
		}
		st, _ := m.Submitter().Job(id)
		if total = st.Tasks.Total; submitter.Removed(m.Submitter(), id).Contains(*index) {
			reason = message.RemovedReason
		}
	})
	if err != nil || reason == "" {
		return w, false
	}
	return Why{Job: id, Asked: 1, Total: total, Reasons: []WhyReason{{Tasks: 1, First: *index, Reason: reason}}}, true
}
