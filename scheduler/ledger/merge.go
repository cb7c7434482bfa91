package ledger

import (
	"bytes"
	"cmp"
	"maps"
	"math"
	"slices"

	"godwit/task"
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

// merge takes in another copy of the same job. Rows are gone through in the
// order of their tasks, in which most of them lie in memory, too: what a merge of
// many rows costs is mostly waiting for memory.
func (j *Job) merge(o *Job) {
	j.Facts.Merge(&o.Facts)
	if len(j.Rows) == 0 {
		j.Rows = make(map[uint64]*Row, len(o.Rows))
	}
	var room arena
	var walk []indexed // this copy's, where walking through both beats looking up
	walks := len(j.Rows) <= maxSparse*len(o.Rows)
	if walks {
		walk = inOrder(j.Rows)
	}
	for _, t := range inOrder(o.Rows) {
		if t.row == nil {
			continue
		}
		var ours *Row
		if !walks {
			ours = j.Rows[t.i]
		} else {
			for len(walk) > 0 && (walk[0].row == nil || walk[0].i < t.i) {
				walk = walk[1:]
			}
			if len(walk) > 0 && walk[0].i == t.i {
				ours = walk[0].row
			}
		}
		if ours != nil {
			ours.merge(t.row, &room)
		} else {
			j.Rows[t.i] = room.clone(t.row)
		}
	}
}

// An indexed row is a row and its task; the row may be nil.
type indexed struct {
	i   uint64
	row *Row
}

// maxSparse is how many places a row may take where rows are put in order by
// giving each task of a range its place. It is faster than sorting below about 8.
const maxSparse = 4

// inOrder lists rows by task. Between them may be indices without a row.
func inOrder(rows map[uint64]*Row) []indexed {
	if len(rows) == 0 {
		return nil
	}
	lo, hi := uint64(math.MaxUint64), uint64(0)
	for i := range rows {
		lo, hi = min(lo, i), max(hi, i)
	}
	if hi-lo < maxSparse*uint64(len(rows)) {
		out := make([]indexed, hi-lo+1)
		for i, row := range rows {
			out[i-lo] = indexed{i, row}
		}
		return out
	}
	out := make([]indexed, 0, len(rows))
	for i, row := range rows {
		out = append(out, indexed{i, row})
	}
	slices.SortFunc(out, func(a, b indexed) int { return cmp.Compare(a.i, b.i) })
	return out
}

// Merge takes in what another copy knows of the same job.
func (f *Facts) Merge(o *Facts) {
	if o.Cancelled() && (!f.Cancelled() || bytes.Compare(o.Cancel, f.Cancel) < 0) {
		f.Cancel = o.Cancel
	}
	if o.IsEnding() && (!f.IsEnding() || bytes.Compare(o.Ending, f.Ending) < 0) {
		f.Ending = o.Ending
	}
	f.Expired = f.Expired || o.Expired
	f.mergeHeld(o)
	f.UsefulCPU = max(f.UsefulCPU, o.UsefulCPU)
	f.WastedCPU = max(f.WastedCPU, o.WastedCPU)
	f.Reruns = max(f.Reruns, o.Reruns)
	f.Migrations = max(f.Migrations, o.Migrations)
}

// Merge takes in what another copy knows of the same task, and says whether
// that was anything new.
func (r *Row) Merge(o *Row) bool { return r.merge(o, nil) }

func (r *Row) merge(o *Row, room *arena) bool {
	changed := r.mergeResults(o.Results, room)
	for _, v := range o.Voided {
		changed = r.addVoid(v) || changed
	}
	for i := range o.Failures {
		changed = r.addFailure(o.Failures[i]) || changed
	}
	if len(o.Log) > 0 && !slices.Equal(r.Log, o.Log) {
		for i := range o.Log {
			changed = r.note(&o.Log[i]) || changed
		}
	}
	return r.mergeStates(o) || changed
}

// mergeResults takes in the completed runs that another copy has. Both are
// sorted; most often they are the same.
func (r *Row) mergeResults(theirs []task.Result, room *arena) bool {
	ours := r.Results
	news := 0
	for i, k := 0, 0; k < len(theirs); {
		c := -1 // theirs comes first
		if i < len(ours) {
			c = compareResults(&theirs[k], &ours[i])
		}
		if c < 0 {
			news++
		}
		if c <= 0 {
			k++
		}
		if c >= 0 {
			i++
		}
	}
	if news == 0 {
		return false
	}
	both := room.results(len(ours) + news)
	for len(ours) > 0 || len(theirs) > 0 {
		c := 0
		switch {
		case len(ours) == 0:
			c = 1
		case len(theirs) == 0:
			c = -1
		default:
			c = compareResults(&ours[0], &theirs[0])
		}
		if c <= 0 {
			both, ours = append(both, ours[0]), ours[1:]
		} else {
			both = append(both, theirs[0])
		}
		if c >= 0 {
			theirs = theirs[1:]
		}
	}
	r.Results = both
	return true
}

// clone returns a copy: it shares slices with r, which neither writes to.
func (r *Row) clone() *Row {
	c := *r
	return &c
}

// arenaSize is how many rows, or results, an arena takes from the heap at once.
// More would save little, and a piece is freed only when all that is in it is.
const arenaSize = 64

// An arena makes many small things in few pieces. The zero value is empty, and a
// nil one makes each by itself.
type arena struct {
	rows []Row
	runs []task.Result
}

// clone is Row.clone.
func (a *arena) clone(r *Row) *Row {
	if len(a.rows) == 0 {
		a.rows = make([]Row, arenaSize)
	}
	c := &a.rows[0]
	a.rows = a.rows[1:]
	*c = *r
	return c
}

// results returns an empty slice with room for exactly n.
func (a *arena) results(n int) []task.Result {
	if a == nil || n > arenaSize {
		return make([]task.Result, 0, n)
	}
	if len(a.runs) < n {
		a.runs = make([]task.Result, arenaSize)
	}
	out := a.runs[:0:n]
	a.runs = a.runs[n:]
	return out
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
