package scheduler

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// What follows opens what another copy of the ledger tells, pair by pair, for replicas and
// for the leader alike.

// addRecord opens a job's record that came from a peer and adds the job.
func addRecord(cfg *Config, l *ledger.Ledger, id task.JobID, value []byte) (*ledger.Job, error) {
	rec, err := task.DecodeWhole(value)
	if err != nil {
		return nil, err
	}
	if named, _ := cfg.Opened.Names(&rec); named != id {
		return nil, fmt.Errorf("the record is another job's")
	}
	j, known := l.Jobs[id]
	if known {
		return j, nil
	}
	if j, err = l.Add(rec); err == nil && !cfg.ours(j.Spec) {
		delete(l.Jobs, id)
		return nil, errors.New(elsewhere)
	}
	return j, err
}

// rowOf says of which task of a known job a row is, by a key that came from a peer.
func rowOf(j *ledger.Job, key string) (uint64, error) {
	id, err := ledger.ParseRowKey(key)
	if err != nil {
		return 0, err
	}
	if n := j.Spec.Tasks(); id.Index >= n {
		return 0, fmt.Errorf("the job has %d tasks", n)
	}
	return id.Index, nil
}

// decodeRow reads a row of a known job that came from a peer.
func decodeRow(j *ledger.Job, p message.Pair) (uint64, *ledger.Row, error) {
	i, err := rowOf(j, p.Key)
	if err != nil {
		return 0, nil, err
	}
	row, err := ledger.DecodeRow(p.Value)
	if err == nil && j.Spec.Replicas > 1 {
		row.Best, row.Round = nil, 0 // each line has its own
	} else if err == nil {
		row.Lines = nil
	}
	return i, row, err
}

// verifyRow checks what others signed in a row of a task, and that the job asks for it:
// what workers did. What ours, which may be nil, has was checked before.
func verifyRow(row, ours *ledger.Row, spec *task.Job, id task.TaskID) error {
	return eachResult(row, id, func(r *task.Result) error {
		if ours.Has(r) {
			return nil
		}
		return verifyResult(r, spec, false, nil)
	})
}

// eachResult calls f with each result and failure in a row of a task, until an error. That one
// is of another task, or in the wrong place, is an error too.
func eachResult(row *ledger.Row, id task.TaskID, f func(*task.Result) error) error {
	check := func(r *task.Result, completed bool) error {
		if r.Task != id || (r.Outcome == task.Completed) != completed {
			return fmt.Errorf("a result of task %v that %v", r.Task, r.Outcome)
		}
		return f(r)
	}
	for i := range row.Results {
		if err := check(&row.Results[i], true); err != nil {
			return err
		}
	}
	for i := range row.Failures {
		if err := check(&row.Failures[i].Result, false); err != nil {
			return err
		}
	}
	return nil
}

// verifyResult checks what is signed in a result: by its worker, and with receipts by the leader
// that gave the lease; and that the job asks for its outputs. What c remembers is not looked at again.
func verifyResult(r *task.Result, spec *task.Job, receipts bool, c *task.Checked) error {
	if err := c.Result(r); err != nil {
		return err
	}
	switch {
	case !receipts:
	case r.Receipt == nil:
		return fmt.Errorf("nothing shows that %s had the lease of the task", r.Worker)
	default:
		if err := c.Receipt(r.Receipt, r.Task, r.Worker); err != nil {
			return err
		}
	}
	return spec.CheckResult(r)
}

// covers reports whether a copy of a job, nil for none, has what a pair of another says, or
// later: forgetting the other loses nothing.
func covers(j *ledger.Job, p message.Pair) bool {
	switch {
	case j == nil:
		return false
	case p.Key == ledger.JobKey(j.Record.ID()):
		return true
	case p.Key == ledger.FactsKey(j.Record.ID()):
		f, err := ledger.DecodeFacts(p.Value)
		return err == nil && j.Facts.Covers(f)
	}
	i, row, err := decodeRow(j, p)
	if err != nil || j.Delivered(i) {
		return err == nil
	}
	switch j.Verdict(i) {
	case ledger.Done:
		return true
	case ledger.Failed: // a run that completed may still change that, and nothing else
		row.Failures, row.Best, row.Lines = nil, nil, nil
	}
	ours := ledger.Row{}
	if known := j.Rows[i]; known != nil {
		ours = *known
	}
	return ours.Covers(row)
}

// keysOf lists the keys of a job, its record first.
func keysOf(id task.JobID, j *ledger.Job) []string {
	keys := []string{ledger.JobKey(id), ledger.FactsKey(id)}
	for _, i := range slices.Sorted(maps.Keys(j.Rows)) {
		if !j.Delivered(i) {
			keys = append(keys, ledger.RowKey(task.TaskID{Job: id, Index: i}))
		}
	}
	return keys
}

// jobOfKey returns the job that a key of the ledger is of.
func jobOfKey(key string) task.JobID {
	_, rest, _ := strings.Cut(key, "/")
	id, _, _ := strings.Cut(rest, "/")
	return task.JobID(id)
}
