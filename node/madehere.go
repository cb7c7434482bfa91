package node

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"godwit/member"
	"godwit/scheduler/message"
	"godwit/scheduler/submitter"
	"godwit/task"
)

// A madeHere knows what tasks of a job that this node submitted made, by the results that it holds.
type madeHere struct {
	m         *membership
	job       task.JobID
	spec      *task.Job         // nil of a job that is forgotten
	unwritten map[string][]byte // of its results, what the loop has still to write
}

// reads returns what a task of the job reads of others; nil where it reads none.
func (h *madeHere) reads(ctx context.Context, s store, i uint64) (*message.Reads, error) {
	if h.spec == nil || i < h.spec.Roots() {
		return nil, nil
	}
	var files []task.Output
	for n, members := range h.spec.Needed(i) {
		if len(n.Reads) == 0 {
			continue
		}
		for u := range members.All() {
			end, err := s.heldResult(ctx, h.m.prefix, submitter.ResultKey(h.job, u), h.unwritten)
			if err != nil {
				return nil, fmt.Errorf("reading what task %d, %s, made: %w", u, h.spec.TaskName(u), err)
			}
			if !end.Failed && len(end.Results) > 0 {
				files = append(files, h.spec.FilesOf(n, u, end.Results[0].Outputs)...)
			}
		}
	}
	if n := len(files); n > task.MaxReads {
		return message.TooManyReads(n), nil
	}
	slices.SortFunc(files, func(a, b task.Output) int { return cmp.Compare(a.Name, b.Name) })
	return &message.Reads{Files: files, Makers: make([]uint16, len(files))}, nil
}

// compare answers a Compare of a submitter's, on the loop.
func (d *driver) compare(ctx context.Context, m *membership, from member.Machine, e message.Compare) {
	key := submitter.ResultKey(e.Task.Job, e.Task.Index)
	made := madeHere{m: m, job: e.Task.Job, spec: m.Submitter().Spec(e.Task.Job), unwritten: m.unwritten(key)}
	d.spawn(func() {
		done := message.Compared{Task: e.Task}
		held, err := d.store.heldResult(ctx, m.prefix, key, made.unwritten)
		var reads *message.Reads
		if err == nil {
			done.Held = held
			reads, err = made.reads(ctx, d.store, e.Task.Index)
		}
		if done.Name = reads.Name(); err != nil {
			done.Err = err.Error()
		}
		d.post(post{call: func() { m.step(from, done) }})
	})
}
