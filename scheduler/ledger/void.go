package ledger

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"slices"

	"godwit/task"
)

// A VoidName names a result that is void: who made it, and the beginning of the
// hash of its mark: its signature covers all else.
type VoidName struct {
	Worker    task.PeerID `cbor:"1,keyasint"`
	Signature [16]byte    `cbor:"2,keyasint"`
}

func voidName(res *task.Result) VoidName {
	sum := sha256.Sum256(res.Mark())
	return VoidName{res.Worker, [16]byte(sum[:])}
}

func (v VoidName) compare(o VoidName) int {
	return cmp.Or(cmp.Compare(v.Worker, o.Worker), bytes.Compare(v.Signature[:], o.Signature[:]))
}

// Void makes the results that agree count for nothing, so that the task runs
// again: a result whose outputs are gone is none. It says whether there were
// any. A task that is delivered is never made void.
//
// With them all go that say the same, independent or not.
//
// A worker may well say the same again: another signature, another result. Of
// two runs of one worker that took the same time to the nanosecond the second
// is void too, and another worker's decides.
func (r *Row) Void() bool {
	changed := false
	_, same := r.agreed()
	for _, res := range same {
		changed = r.addVoid(voidName(&res)) || changed
	}
	return changed
}

// VoidRuns makes all runs count for nothing that of selects, completed or failed, so that the task may run again. It
// reports whether any of them counted before. Unlike Void, it also takes back that a task failed because its completed
// runs do not agree. A node of an older version still counts the failures.
func (r *Row) VoidRuns(of func(*task.Result) bool) bool {
	changed := false
	for i := range r.Results {
		if res := &r.Results[i]; of(res) {
			changed = r.addVoid(voidName(res)) || changed
		}
	}
	for i := range r.Failures {
		if res := &r.Failures[i].Result; of(res) {
			changed = r.addVoid(voidName(res)) || changed
		}
	}
	return changed
}

// Failed returns the failures that count: those that are not void. The slice is read only.
func (r *Row) Failed() []Failure {
	if len(r.Voided) == 0 {
		return r.Failures
	}
	var out []Failure
	for i := range r.Failures {
		if !r.IsVoid(&r.Failures[i].Result) {
			out = append(out, r.Failures[i])
		}
	}
	return out
}

func (r *Row) addVoid(v VoidName) bool {
	i, found := slices.BinarySearchFunc(r.Voided, v, VoidName.compare)
	if found || len(r.Voided) >= MaxResults {
		return false
	}
	r.Voided = slices.Insert(slices.Clip(r.Voided), i, v)
	return true
}

// IsVoid reports whether a result of the row counts for nothing.
func (r *Row) IsVoid(res *task.Result) bool {
	if len(r.Voided) == 0 {
		return false
	}
	_, void := slices.BinarySearchFunc(r.Voided, voidName(res), VoidName.compare)
	return void
}
