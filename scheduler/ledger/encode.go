package ledger

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"godwit/task"
)

// Keys of the durable form: one for each job's record, one for its facts, one
// for each row, so that a result costs the writing of one row.
const (
	jobPrefix   = "j/"
	factsPrefix = "f/"
	rowPrefix   = "r/"
	indexDigits = 16 // hexadecimal, so that keys sort as indices do
)

// JobKey returns the key of a job's record.
func JobKey(id task.JobID) string { return jobPrefix + string(id) }

// FactsKey returns the key of a job's facts.
func FactsKey(id task.JobID) string { return factsPrefix + string(id) }

// RowKey returns the key of a task's row.
func RowKey(id task.TaskID) string {
	const zeros = "0000000000000000"
	var digits [indexDigits]byte
	hex := strconv.AppendUint(digits[:0], id.Index, 16)
	return rowPrefix + string(id.Job) + "/" + zeros[len(hex):] + string(hex)
}

// ParseRowKey is the inverse of RowKey. It fails for any other string.
func ParseRowKey(key string) (task.TaskID, error) {
	rest, ok := strings.CutPrefix(key, rowPrefix)
	job, hex, ok2 := strings.Cut(rest, "/")
	i, err := strconv.ParseUint(hex, 16, 64)
	id := task.TaskID{Job: task.JobID(job), Index: i}
	if !ok || !ok2 || err != nil || len(hex) != indexDigits || strings.ContainsAny(hex, "ABCDEF+_") {
		return task.TaskID{}, fmt.Errorf("ledger: %q is not the key of a row", key)
	}
	return id, nil
}

// Encode returns the durable form of the row. It fails for a row with a time that
// task.At did not make: none that was decoded has one.
func (r *Row) Encode() ([]byte, error) { return encode("row", r) }

// Encode returns the durable form of the facts.
func (f *Facts) Encode() ([]byte, error) { return encode("facts", f) }

func encode(what string, v any) ([]byte, error) {
	b, err := task.Encode(v)
	if err != nil {
		return nil, fmt.Errorf("ledger: %s: %w", what, err)
	}
	return b, nil
}

// DecodeRow reads what Row.Encode wrote, and refuses a row that breaks the
// order that the type promises.
func DecodeRow(b []byte) (*Row, error) {
	r := new(Row)
	if err := task.Decode(b, r); err != nil {
		return nil, fmt.Errorf("ledger: row: %w", err)
	}
	if len(r.Results) > MaxResults || len(r.Failures) > MaxResults || len(r.Log) > MaxLog || len(r.Voided) > MaxResults {
		return nil, errors.New("ledger: row beyond its bounds")
	}
	for i := range r.Log {
		r.Log[i].Reason = task.ClipMessage(r.Log[i].Reason)
		if !r.Log[i].bounded() {
			return nil, errors.New("ledger: row has a line of log with a text beyond its bounds")
		}
	}
	if err := r.checkStates(); err != nil {
		return nil, err
	}
	increasing := func(i int, c int) bool { return i == 0 || c < 0 }
	for i := range r.Results {
		if !increasing(i, compareResults(&r.Results[max(i-1, 0)], &r.Results[i])) {
			return nil, errors.New("ledger: results of a row are out of order")
		}
	}
	for i := range r.Failures {
		if !increasing(i, r.Failures[max(i-1, 0)].Attempt.Compare(r.Failures[i].Attempt)) {
			return nil, errors.New("ledger: failures of a row are out of order")
		}
	}
	for i := range r.Log {
		if !increasing(i, r.Log[max(i-1, 0)].Attempt.Compare(r.Log[i].Attempt)) {
			return nil, errors.New("ledger: log of a row is out of order")
		}
	}
	for i := range r.Voided {
		if !increasing(i, r.Voided[max(i-1, 0)].compare(r.Voided[i])) {
			return nil, errors.New("ledger: voided results of a row are out of order")
		}
	}
	return r, nil
}

// DecodeFacts reads what Facts.Encode wrote.
func DecodeFacts(b []byte) (*Facts, error) {
	f := new(Facts)
	if err := task.Decode(b, f); err != nil {
		return nil, fmt.Errorf("ledger: facts: %w", err)
	}
	for _, n := range []int{len(f.Cancel), len(f.Signed), len(f.Ending)} {
		if n != 0 && n != ed25519.SignatureSize {
			return nil, fmt.Errorf("ledger: facts: a signature of %d bytes", n)
		}
	}
	if f.Delivery > MaxDelivery {
		return nil, fmt.Errorf("ledger: facts: delivery %d, the last is %d", f.Delivery, uint64(MaxDelivery))
	}
	return f, errors.Join(f.Done.check(), f.Failed.check())
}

// Pairs returns the whole durable form, key to value. It fails where a row or facts
// do not encode.
func (l *Ledger) Pairs() (map[string][]byte, error) {
	out := map[string][]byte{}
	var errs []error
	put := func(key string, value []byte, err error) {
		if out[key] = value; err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", key, err))
		}
	}
	for id, j := range l.Jobs {
		out[JobKey(id)] = j.Record.Whole()
		value, err := j.Facts.Encode()
		put(FactsKey(id), value, err)
		for i, row := range j.Rows {
			value, err := row.Encode()
			put(RowKey(task.TaskID{Job: id, Index: i}), value, err)
		}
	}
	return out, errors.Join(errs...)
}

// Load reads a durable form into a new ledger. What cannot be read, and what
// belongs to no job, is left out and told in the error; the rest is good:
// losing a row costs a rerun, losing the ledger would cost them all. opened opens the records,
// and may be nil.
func Load(pairs map[string][]byte, opened *task.Opened) (*Ledger, error) {
	l := New()
	l.Opened = opened
	var errs []error
	// Keys sort facts, jobs, rows; records must come first.
	keys := sortedKeys(pairs)
	for _, prefix := range []string{jobPrefix, factsPrefix, rowPrefix} {
		for _, key := range keys {
			if strings.HasPrefix(key, prefix) {
				if err := l.load(key, pairs[key]); err != nil {
					errs = append(errs, fmt.Errorf("reading %s: %w", key, err))
				}
			}
		}
	}
	return l, errors.Join(errs...)
}

func (l *Ledger) load(key string, value []byte) error {
	if id, ok := strings.CutPrefix(key, jobPrefix); ok {
		return l.loadJob(task.JobID(id), value)
	}
	if id, ok := strings.CutPrefix(key, factsPrefix); ok {
		f, err := DecodeFacts(value)
		j := l.Jobs[task.JobID(id)]
		if err != nil || j == nil {
			return errors.Join(err, missing(j))
		}
		j.Facts = *f
		return nil
	}
	id, err := ParseRowKey(key)
	if err != nil {
		return err
	}
	row, err := DecodeRow(value)
	j := l.Jobs[id.Job]
	if err != nil || j == nil {
		return errors.Join(err, missing(j))
	}
	if id.Index >= j.Spec.Tasks() {
		return fmt.Errorf("the job has %d tasks", j.Spec.Tasks())
	}
	j.Rows[id.Index] = row
	return nil
}

func (l *Ledger) loadJob(id task.JobID, value []byte) error {
	rec, err := task.DecodeWhole(value)
	if err != nil {
		return err
	}
	if named, _ := l.Opened.Names(&rec); named != id {
		return errors.New("the record is another job's")
	}
	_, err = l.Add(rec)
	return err
}

func missing(j *Job) error {
	if j != nil {
		return nil
	}
	return errors.New("its job is not in the ledger")
}
