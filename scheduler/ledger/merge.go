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
	j.Facts.merge(&o.Facts)
	for i, row := range o.Rows {
		j.Row(i).Merge(row)
	}
}

func (f *Facts) merge(o *Facts) {
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
	for _, res := range o.Results {
		changed = r.addCompleted(res) || changed
	}
	for _, f := range o.Failures {
		changed = r.addFailure(f) || changed
	}
	for _, l := range o.Log {
		changed = r.Note(l) || changed
	}
	return r.Save(o.Best) || changed
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
