package node

import (
	"context"
	"fmt"
	"strings"

	"godwit/scheduler/message"
	"godwit/scheduler/submitter"
	"godwit/task"
)

// held are results of a job that this node submitted, in order.
type held struct {
	status    message.JobStatus
	mine      bool // false for a job of another node, of which there is nothing else
	results   []message.TaskSummary
	standings []message.Standing // of each
	audited   []bool             // likewise
	parts     []message.Parts    // likewise
}

// from picks at most limit indices of what is held, from index from on.
func from(index uint64, limit int) func([]message.Range) []uint64 {
	return func(held []message.Range) []uint64 { return firstOf(held, index, limit) }
}

// heldBy reads results of a job that this node submitted and holds, of the indices that
// pick picks, with the job's status. Only what is held is asked on the
// loop; the reading itself does not hold it up.
func (q *queries) heldBy(ctx context.Context, id task.JobID, pick func(held []message.Range) []uint64) (held,
	error) {
	var out held
	var which []uint64
	var unwritten map[string][]byte
	var space string
	err := q.look(ctx, func() {
		m := q.overlays.submitted(id)
		if out.mine = m != nil; !out.mine {
			return
		}
		space = m.prefix
		out.status, _ = m.Submitter().Job(id)
		out.status.Overlay = m.Manifest().Name
		which = pick(m.Submitter().Held(id))
		out.standings, out.audited = m.Submitter().Standings(id, which)
		out.parts = m.Submitter().Parts(id, which)
		unwritten = m.unwritten(submitter.ResultKey(id, 0))
	})
	for _, i := range which {
		if err != nil {
			break
		}
		var t message.TaskSummary
		t, err = q.store.heldResult(ctx, space, submitter.ResultKey(id, i), unwritten)
		out.results = append(out.results, t)
	}
	if err == nil && len(out.results) > 0 {
		err = q.markFaulty(ctx, id, &out)
	}
	if err != nil {
		return held{status: out.status, mine: out.mine}, fmt.Errorf("reading the results of %s: %w", id, err)
	}
	return out, nil
}

// markFaulty marks the results of workers with proven faults.
func (q *queries) markFaulty(ctx context.Context, id task.JobID, h *held) error {
	return q.look(ctx, func() {
		m := q.overlays.submitted(id)
		for i := range h.results {
			if t := &h.results[i]; m != nil && m.Submitter().Faulty(id, t) {
				t.Faulty = true
				if h.standings[i] == "" { // of a job whose results are not checked
					h.standings[i] = message.StandingDoubted
				}
			}
		}
	})
}

// heldResult reads a result that is held, by its key in a space, of which some pairs are unwritten.
func (s store) heldResult(ctx context.Context, space, key string, unwritten map[string][]byte) (
	message.TaskSummary, error) {
	value, ok := unwritten[key]
	if !ok {
		var err error
		if value, err = s.get(ctx, space+key); err != nil {
			return message.TaskSummary{}, err
		}
	}
	return submitter.DecodeSummary(value)
}

// firstOf lists at most limit indices of a set, from index from on.
func firstOf(ranges []message.Range, from uint64, limit int) []uint64 {
	var out []uint64
	for _, r := range ranges {
		for i := max(r.From, from); i < r.To && len(out) < limit; i++ {
			out = append(out, i)
		}
	}
	return out
}

// unwritten returns the pairs that the loop has still to write, of the job that
// key is a result of.
func (m *membership) unwritten(key string) map[string][]byte {
	prefix := key[:strings.LastIndexByte(key, '/')+1]
	out := map[string][]byte{}
	for _, list := range [][]pending{m.all.writing, m.all.pending} {
		for _, p := range list {
			if e, ok := p.machine.(message.Persist); ok && p.of == m && strings.HasPrefix(e.Key, prefix) {
				out[e.Key] = e.Value
			}
		}
	}
	return out
}

// ownJob returns the status of a job that this node submitted, with the tasks
// whose results it holds.
func (q *queries) ownJob(ctx context.Context, id task.JobID, index uint64, limit int) (message.JobStatus,
	error) {
	_, spec, err := q.Submitted(ctx, id)
	if err != nil {
		return message.JobStatus{}, err
	}
	h, err := q.heldBy(ctx, id, from(index, min(limit, MaxTaskList)))
	switch {
	case err != nil:
		return h.status, err
	case !h.mine:
		return h.status, fmt.Errorf("%w: %s", ErrUnknownJob, id)
	}
	for i := range h.results {
		t := h.results[i].Status(spec)
		t.Standing, t.Audited = h.standings[i], h.audited[i]
		if h.parts[i].Of > 0 {
			t.Parts = &h.parts[i]
		}
		h.status.TasksList = append(h.status.TasksList, t)
	}
	return h.status, nil
}

// Submitted returns a job that this node submitted, as it was signed and opened.
func (q *queries) Submitted(ctx context.Context, id task.JobID) (rec task.Record, spec *task.Job, err error) {
	mine := false
	if err := q.look(ctx, func() {
		if m := q.overlays.submitted(id); m != nil {
			rec, mine = m.Submitter().Record(id)
		}
	}); err != nil {
		return rec, nil, err
	}
	if !mine {
		return rec, nil, fmt.Errorf("%w among those this node submitted: %s", ErrUnknownJob, id)
	}
	if spec, err = rec.Open(); err != nil {
		return rec, nil, fmt.Errorf("reading the job: %w", err)
	}
	return rec, spec, nil
}
