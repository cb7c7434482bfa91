package ledger

import (
	"maps"
	"slices"
)

// Merge takes everything that o knows into l. Afterwards l knows all that
// either did; o is unchanged and shares no slice with l that either would
// write to. Merging is commutative, associative and idempotent.
func (l *Ledger) Merge(o *Ledger) {
	for id, theirs := range o.Jobs {
		ours, ok := l.Jobs[id]
		if !ok {
			ours = &Job{Record: theirs.Record, Spec: theirs.Spec, Submitter: theirs.Submitter, Rows: map[uint64]*Row{}}
			l.Jobs[id] = ours
		}
		ours.merge(theirs)
	}
}

// merge takes in another copy of the same job.
func (j *Job) merge(o *Job) {
	j.Facts.Merge(&o.Facts)
	if len(j.Rows) == 0 {
		j.Rows = make(map[uint64]*Row, len(o.Rows))
	}
	for i, row := range o.Rows {
		if ours := j.Rows[i]; ours != nil {
			ours.Merge(row)
		} else {
			j.Rows[i] = row.clone()
		}
	}
}

// Merge takes in what another copy knows of the same job.
func (f *Facts) Merge(o *Facts) {
	f.Cancelled = f.Cancelled || o.Cancelled
	f.Expired = f.Expired || o.Expired
	f.Done.Union(o.Done)
	f.Failed.Union(o.Failed)
	f.UsefulCPU = max(f.UsefulCPU, o.UsefulCPU)
	f.WastedCPU = max(f.WastedCPU, o.WastedCPU)
	f.Reruns = max(f.Reruns, o.Reruns)
}

// Merge takes in what another copy knows of the same task, and says whether
// that was anything new.
func (r *Row) Merge(o *Row) bool {
	changed := false
	for i := range o.Results {
		changed = r.insertResult(o.Results[i]) || changed
	}
	for _, v := range o.Voided {
		changed = r.addVoid(v) || changed
	}
	for _, f := range o.Failures {
		changed = r.addFailure(f) || changed
	}
	for _, l := range o.Log {
		changed = r.Note(l) || changed
	}
	return r.Save(o.Best) || changed
}

// clone returns a copy: it shares slices with r, which neither writes to.
func (r *Row) clone() *Row {
	c := *r
	return &c
}

// Clone returns a copy that shares nothing with l that either would write to.
func (l *Ledger) Clone() *Ledger {
	c := New()
	c.Merge(l)
	return c
}

// sortedKeys returns a map's keys in order.
func sortedKeys[K interface{ ~uint64 | ~string }, V any](m map[K]V) []K {
	return slices.Sorted(maps.Keys(m))
}
