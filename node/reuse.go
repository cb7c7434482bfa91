package node

import (
	"context"
	"fmt"
	"slices"

	"godwit/blocks/seal"
	"godwit/node/exec"
	"godwit/scheduler/ledger"
	"godwit/scheduler/memo"
	"godwit/scheduler/message"
	"godwit/scheduler/submitter"
	"godwit/task"
)

const (
	// mostSources is in how many jobs results are sought: the latest that are like the new one. Who works at a program
	// runs it some times a day, and what was not taken over by then is old.
	mostSources = 16
	// reuseBatch is how many results the submitter takes at a time, each of a few hundred bytes that go to disk: the
	// loop is held up by some milliseconds.
	reuseBatch = 128
)

// reuse is reusable of a signed job, and of a job whose results go first, if there is one. What cannot be found is
// run: only an end of ctx is an error.
func (ss *submissions) reuse(ctx context.Context, m *membership, rec *task.Record, first task.JobID) (
	[]message.Reused, error) {
	spec, err := rec.OpenWhole()
	if err != nil {
		return nil, err
	}
	reused, err := ss.reusable(ctx, m, spec, rec.Key, first)
	if err != nil && ctx.Err() == nil {
		ss.log.Warn("no results of other jobs are taken", "job", spec.Name, "err", err)
		return nil, nil
	}
	return reused, err
}

// reusable returns results that this node holds, of tasks that a new job of its own has, too.
func (ss *submissions) reusable(ctx context.Context, m *membership, spec *task.Job, key []byte, first task.JobID) (
	[]message.Reused, error) {
	sealer, err := seal.New(key)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", task.ErrKey, err)
	}
	sources, err := ss.sources(ctx, m, spec, first)
	if err != nil || len(sources) == 0 {
		return nil, err
	}
	var out []message.Reused
	err = memo.Find(spec, exec.Rows(ctx, ss.content, spec, sealer), sources, func(r message.Reused) error {
		out = append(out, r)
		return ctx.Err()
	})
	return out, err
}

// sources are jobs of this node's, the latest first, of which a new one may take results; one that is named goes
// before them.
func (ss *submissions) sources(ctx context.Context, m *membership, spec *task.Job, first task.JobID) (
	[]memo.Source, error) {
	var out []memo.Source
	err := ss.do(ctx, func() {
		s := m.Submitter()
		jobs := s.Jobs()
		if i := slices.IndexFunc(jobs, func(st message.JobStatus) bool { return st.ID == first }); i >= 0 {
			jobs = append(slices.Delete(slices.Clone(jobs), i, i+1), jobs[i])
		}
		for _, st := range slices.Backward(jobs) {
			of := s.Spec(st.ID)
			if len(out) == mostSources {
				return
			}
			if st.Held == 0 || !memo.Resembles(spec, of) {
				continue
			}
			unwritten := m.unwritten(submitter.ResultKey(st.ID, 0))
			source := memo.Source{ID: st.ID, Spec: of, Held: s.Held(st.ID), Sound: submitter.Sound(s, st.ID, spec),
				Read: func(index uint64) (message.TaskSummary, error) {
					if err := ctx.Err(); err != nil {
						return message.TaskSummary{}, err
					}
					return ss.store.heldResult(ctx, m.prefix, submitter.ResultKey(st.ID, index), unwritten)
				}}
			if rec, ok := s.Record(st.ID); ok {
				if sealer, err := seal.New(rec.Key); err == nil {
					source.Rows = exec.Rows(ctx, ss.content, of, sealer)
					out = append(out, source)
				}
			}
		}
	})
	return out, err
}

// offerWith hands a job to the submitter, with results that it takes from other jobs. However this ends, the job is
// not left waiting.
func (ss *submissions) offerWith(ctx context.Context, m *membership, id task.JobID, rec task.Record,
	reused []message.Reused) error {
	step := func(ev message.Event) error { return ss.do(ctx, func() { m.step(m.Submitter(), ev) }) }
	if len(reused) == 0 {
		return step(message.Offer{Record: rec})
	}
	if err := step(message.Offer{Record: rec, Waits: true}); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	for batch := range slices.Chunk(reused, reuseBatch) {
		if err := step(message.Reuse{Job: id, Tasks: batch}); err != nil {
			return err
		}
	}
	return step(message.Reuse{Job: id, Last: true})
}

// recall answers a Recall of a machine's, on the loop.
func (d *driver) recall(ctx context.Context, m *membership, e message.Recall) {
	unwritten := m.unwritten(submitter.ResultKey(e.Job, 0))
	d.spawn(func() {
		done := message.Recalled{Job: e.Job}
		for _, i := range e.Tasks {
			id := task.TaskID{Job: e.Job, Index: i}
			t, err := d.store.heldResult(ctx, m.prefix, submitter.ResultKey(id.Job, id.Index), unwritten)
			if err != nil {
				d.log.Warn("a result that others read cannot be read", "task", id.String(), "err", err)
				continue
			}
			done.Tasks = append(done.Tasks, t)
		}
		d.post(post{call: func() { m.step(m.Submitter(), done) }})
	})
}

// sharedKey returns the key of the latest job of a name that this node handed to an overlay, nil if there is none:
// results of it can be read by a job that has the same one.
func sharedKey(m *membership, name string) []byte {
	s := m.Submitter()
	for _, st := range slices.Backward(s.Jobs()) {
		if rec, ok := s.Record(st.ID); ok && st.Name == name && len(rec.Key) > 0 {
			return slices.Clone(rec.Key)
		}
	}
	return nil
}

// whyTaken says of a task whose result was taken from another job that it was; not ok of any other, and of a job that
// this node did not submit. Of a job of which no leader needs to know any more it says so of all.
func (q *queries) whyTaken(ctx context.Context, id task.JobID, index *uint64) (Why, bool) {
	if index == nil {
		st, err := q.heldBy(ctx, id, func([]message.Range) []uint64 { return nil })
		if n := takenOf(st.status.Taken); err != nil || n == 0 || n < st.status.Tasks.Total {
			return Why{}, false
		}
		total := st.status.Tasks.Total
		return Why{Job: id, Asked: total, Total: total, Reasons: q.whyAllTaken(ctx, id)}, true
	}
	h, err := q.heldBy(ctx, id, func(held []message.Range) []uint64 {
		if ledger.Set(held).Contains(*index) {
			return []uint64{*index}
		}
		return nil
	})
	if err != nil || len(h.results) == 0 || h.results[0].From == nil {
		return Why{}, false
	}
	from := h.results[0].From
	reason := WhyReason{Tasks: 1, First: *index, Reason: fmt.Sprintf(
		"its result is taken from task %d of job %s: module, arguments, environment and inputs are the same",
		from.Index, from.Job)}
	return Why{Job: id, Asked: 1, Total: h.status.Tasks.Total, Reasons: []WhyReason{reason}}, true
}

// whyAllTaken says of a job of this node's how many results were taken from which others.
func (q *queries) whyAllTaken(ctx context.Context, id task.JobID) (out []WhyReason) {
	h, err := q.heldBy(ctx, id, func([]message.Range) []uint64 { return nil })
	if err != nil {
		return nil
	}
	for _, t := range h.status.Taken {
		out = append(out, WhyReason{Tasks: t.Tasks, Reason: fmt.Sprintf(
			"the results are taken from job %s: module, arguments, environment and inputs are the same", t.Job)})
	}
	return out
}

// takenOf is how many results were taken from others.
func takenOf(from []message.Taken) (n uint64) {
	for _, t := range from {
		n += t.Tasks
	}
	return n
}
