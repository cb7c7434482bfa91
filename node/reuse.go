package node

import (
	"context"
	"fmt"
	"slices"
	"time"

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
	// mostReuse bounds the time for finding and sealing results: whoever submits a job waits for it, and the API ends a
	// request after 15 minutes. What is found by then is taken.
	mostReuse = 10 * time.Minute
)

// reuse finds results for a signed job, those of first before others, if it is a job. They are sealed under the new job's
// key, and what is stored for that is held until release is called. What cannot be found, or not be sealed, is run: only
// an end of ctx is an error.
func (ss *submissions) reuse(ctx context.Context, m *membership, rec *task.Record, first task.JobID) (
	reused []message.Reused, release func(), err error) {
	spec, err := rec.OpenWhole()
	if err != nil {
		return nil, func() {}, err
	}
	var own *resealer
	within, cancel := context.WithTimeout(ctx, mostReuse)
	defer cancel()
	reused, err = ss.reusable(within, m, spec, rec.Key, first, func(to *seal.Sealer, from map[task.JobID]*seal.Sealer) keep {
		own = newResealer(within, ss.content, spec, to, from)
		return own.take
	})
	release = func() {
		if own != nil {
			own.done()
		}
	}
	if within.Err() != nil && ctx.Err() == nil {
		ss.log.Warn("not all results of other jobs are taken", "job", spec.Name, "taken", len(reused), "after", mostReuse)
		err = nil
	}
	if err == nil && len(reused) > 0 {
		err = ss.content.blocks.Sync(ctx) // the new job's results rest on these blocks
	}
	if err != nil && ctx.Err() == nil {
		ss.log.Warn("no results of other jobs are taken", "job", spec.Name, "err", err)
		reused, err = nil, nil
	}
	return reused, release, err
}

// A keep changes a result to one of the new job. After an error it is not taken.
type keep func(*message.Reused) error

// reusable returns results that this node holds, of tasks that a new job of its own has, too. keeps makes the keep of the
// job, by its key and those of the jobs whose results are taken; nil if results stay as they are.
func (ss *submissions) reusable(ctx context.Context, m *membership, spec *task.Job, key []byte, first task.JobID,
	keeps func(to *seal.Sealer, from map[task.JobID]*seal.Sealer) keep) ([]message.Reused, error) {
	sealer, err := seal.New(key)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", task.ErrKey, err)
	}
	s := sources{submissions: ss, m: m, spec: spec, plain: ss.content.plain(ctx, sealer), keys: map[task.JobID]*seal.Sealer{}}
	s.rows = exec.Rows(ctx, ss.content, spec, sealer)
	if err := s.find(ctx, first); err != nil || len(s.all) == 0 {
		return nil, err
	}
	for i := range s.all {
		ss.loadPlain(ctx, s.all[i].ID)
	}
	take := keep(func(*message.Reused) error { return nil })
	if keeps != nil {
		take = keeps(sealer, s.keys)
	}
	var out []message.Reused
	err = memo.Find(spec, s.rows, s.plain, s.all, func(r *message.Reused) (bool, error) {
		if err := take(r); err != nil {
			ss.log.Debug("a result of another job is not taken", "task", r.Of.String(), "err", err)
			return false, ctx.Err()
		}
		out = append(out, *r)
		return true, ctx.Err()
	})
	if err == nil {
		err = ctx.Err()
	}
	return out, err
}

// sources are the jobs of this node of which a new one may take results.
type sources struct {
	*submissions
	m     *membership
	spec  *task.Job  // the new job
	rows  task.Rows  // of its tables
	plain task.Plain // of its files

	all  []memo.Source // the latest first
	keys map[task.JobID]*seal.Sealer
}

// find lists the sources; first goes before the others if it is a job.
func (s *sources) find(ctx context.Context, first task.JobID) error {
	return s.do(ctx, func() {
		jobs := s.m.Submitter().Jobs()
		if i := slices.IndexFunc(jobs, func(st message.JobStatus) bool { return st.ID == first }); i >= 0 {
			jobs = append(slices.Delete(slices.Clone(jobs), i, i+1), jobs[i])
		}
		for _, st := range slices.Backward(jobs) {
			of := s.m.Submitter().Spec(st.ID)
			if len(s.all) == mostSources {
				return
			}
			if st.Held > 0 && memo.Resembles(s.spec, of) {
				s.add(ctx, st.ID, of)
			}
		}
	})
}

// add adds a job, on the loop.
func (s *sources) add(ctx context.Context, id task.JobID, of *task.Job) {
	sub := s.m.Submitter()
	rec, ok := sub.Record(id)
	if !ok {
		return
	}
	sealer, err := seal.New(rec.Key)
	if err != nil {
		return
	}
	unwritten := s.m.unwritten(submitter.ResultKey(id, 0))
	s.keys[id] = sealer
	plain := s.content.plain(ctx, sealer)
	s.all = append(s.all, memo.Source{ID: id, Spec: of, Held: sub.Held(id), Plain: plain,
		Sound: submitter.Sound(sub, id, s.spec),
		Rows:  s.sameRows(exec.Rows(ctx, s.content, of, sealer), plain),
		Read: func(index uint64) (message.TaskSummary, error) {
			if err := ctx.Err(); err != nil {
				return message.TaskSummary{}, err
			}
			return s.store.heldResult(ctx, s.m.prefix, submitter.ResultKey(id, index), unwritten)
		}})
}

// sameRows returns the rows of a source's tables. Those of a table that the new job has, too, are read there: the
// blocks of a job's tables are removed some time after its end.
func (s *sources) sameRows(own task.Rows, plain task.Plain) task.Rows {
	if own == nil || s.rows == nil || plain == nil {
		return own
	}
	tables := s.spec.Tables()
	mine := map[task.CID]*task.Table{} // by the plain CID; nil until the first row
	known := map[*task.Table]*task.Table{}
	of := func(p task.Plain, t *task.Table) task.CID {
		ref, err := p.Of(task.Output{CID: t.CID, Size: t.Size})
		if err != nil {
			return ""
		}
		return ref.CID
	}
	return func(t *task.Table, i uint64) ([]string, error) {
		same, looked := known[t]
		if !looked {
			for _, x := range tables {
				mine[of(s.plain, x)] = x
			}
			if c := of(plain, t); c != "" && mine[c] != nil && mine[c].Rows == t.Rows {
				same = mine[c]
			}
			known[t] = same
		}
		if same != nil {
			return s.rows(same, i)
		}
		return own(t, i)
	}
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
