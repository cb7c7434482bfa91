package ledger

import (
	"time"

	"godwit/task"
)

// A Ledger is one copy of the record of an overlay. The zero value is not
// ready; see New. It is not safe for concurrent use.
type Ledger struct {
	Jobs map[task.JobID]*Job
	// Opened opens the records of jobs; nil: each signature is checked anew.
	Opened *task.Opened
}

// New returns an empty ledger.
func New() *Ledger { return &Ledger{Jobs: map[task.JobID]*Job{}} }

// A Job is one submission and what is known of its tasks.
type Job struct {
	Record    task.Record // immutable; its ID is the job's
	Spec      *task.Job   // what Record opens to; read only
	Submitter task.PeerID
	Facts     Facts
	// Rows are the tasks touched and not yet compacted, by index.
	Rows map[uint64]*Row
}

// Facts are what is known of a job beside its rows. Each field only grows, and
// Done and Failed do within a delivery.
type Facts struct {
	// Cancel is its submitter's signature that the job is to end (task.SignCancel),
	// which any copy can check; empty for none. Of two the smaller is kept. It is
	// read only.
	Cancel []byte `cbor:"1,keyasint,omitempty"`
	// Expired says that its deadline passed before it was done. Anybody knows that
	// from the record and a clock, and should not take it from another.
	Expired bool `cbor:"2,keyasint,omitempty"`
	// Done and Failed are the tasks whose story is over and held by the
	// submitter. Their rows may be gone. An index in both is done.
	Done   Set `cbor:"3,keyasint,omitempty" most:"65536"`
	Failed Set `cbor:"4,keyasint,omitempty" most:"65536"`
	// What the rows compacted away had cost.
	UsefulCPU time.Duration `cbor:"5,keyasint,omitempty"`
	WastedCPU time.Duration `cbor:"6,keyasint,omitempty"`
	Reruns    uint64        `cbor:"7,keyasint,omitempty"`
	// Migrations are the moves that those rows had seen.
	Migrations uint64 `cbor:"9,keyasint,omitempty"`
	// Delivery counts how often the submitter said that it lacks what Done or Failed
	// said it holds. A later one's sets stand for those of all before it.
	Delivery uint64 `cbor:"8,keyasint,omitempty"`
	// Signed is the submitter's signature that Done and Failed together are what it holds in
	// this delivery: see HeldOf. Without it they are what this copy alone was told by the
	// submitter itself. It is read only.
	Signed []byte `cbor:"10,keyasint,omitempty"`
	// Ending is the signature that Cancel has, of a job that is to end once what runs of it has:
	// no more of it is begun. Of two the smaller is kept. It is read only.
	Ending []byte `cbor:"11,keyasint,omitempty"`
}

// MaxDelivery bounds Facts.Delivery. A submitter that loses its disk each minute
// takes 8,000 years to it.
const MaxDelivery = 1 << 32

// Cancelled says whether the submitter ended the job.
func (f *Facts) Cancelled() bool { return len(f.Cancel) > 0 }

// IsEnding says whether the submitter wants no more of the job begun.
func (f *Facts) IsEnding() bool { return len(f.Ending) > 0 }

// Add opens a record and puts its job in the ledger. A job already there is
// returned as it is. It fails for a record that does not open, and for one of a sealed job
// without its key.
func (l *Ledger) Add(rec task.Record) (*Job, error) {
	id, submitter := l.Opened.Names(&rec)
	if j, ok := l.Jobs[id]; ok {
		return j, nil
	}
	spec, err := l.Opened.Open(&rec)
	if err != nil {
		return nil, err
	}
	j := &Job{Record: rec, Spec: spec, Submitter: submitter, Rows: map[uint64]*Row{}}
	l.Jobs[id] = j
	return j, nil
}

// Rule returns what the job asks of results.
func (j *Job) Rule() Rule { return Rule{j.Spec.Replicas, j.Spec.Retries, j.Submitter} }

// Delivered says whether the submitter holds the end of task i.
func (j *Job) Delivered(i uint64) bool {
	return j.Facts.Done.Contains(i) || j.Facts.Failed.Contains(i)
}

// Verdict derives whether task i is over.
func (j *Job) Verdict(i uint64) Verdict {
	if j.Facts.Done.Contains(i) {
		return Done
	}
	if row := j.Rows[i]; row != nil {
		if v := row.Verdict(j.Rule()); v != Open {
			return v
		}
	}
	if j.Facts.Failed.Contains(i) {
		return Failed
	}
	return Open
}

// Row returns the row of task i, made if there is none.
func (j *Job) Row(i uint64) *Row {
	row := j.Rows[i]
	if row == nil {
		row = new(Row)
		j.Rows[i] = row
	}
	return row
}

// Over reports whether nothing of the job is to be run any more.
func (j *Job) Over() bool {
	f := &j.Facts
	return f.Cancelled() || f.Expired || f.Done.Count()+f.Failed.Minus(f.Done).Count() >= j.Spec.Tasks()
}
