package ledger

import (
	"bytes"
	"cmp"
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"slices"

	"godwit/task"
)

// HeldOf returns what a submitter signs that holds a set of tasks in a delivery. It is not
// signed yet.
func HeldOf(delivery uint64, held Set) (task.Held, error) {
	b, err := task.Encode(append([]Range{}, held...))
	if err != nil {
		return task.Held{}, fmt.Errorf("ledger: a set of tasks: %w", err)
	}
	return task.Held{Delivery: delivery, Count: held.Count(), Digest: sha256.Sum256(b)}, nil
}

// Held returns the tasks whose ends the submitter holds: Done and Failed. It is read only.
func (f *Facts) Held() Set {
	if len(f.Failed) == 0 {
		return f.Done
	}
	held := slices.Clone(f.Done)
	held.Union(f.Failed)
	return held
}

// Statement returns the submitter's word about what it holds as the facts have it; not ok if
// they have no signature of it.
func (f *Facts) Statement() (h task.Held, ok bool) {
	if len(f.Signed) == 0 {
		return h, false
	}
	h, err := HeldOf(f.Delivery, f.Held())
	h.Signature = f.Signed
	return h, err == nil
}

// Proven reports whether what the facts say of delivered tasks is their submitter's word, of
// that job and key. Of facts that say nothing of any it is true.
func (f *Facts) Proven(id task.JobID, key ed25519.PublicKey) bool {
	if len(f.Signed) == 0 {
		return len(f.Done) == 0 && len(f.Failed) == 0 && f.Delivery == 0
	}
	h, ok := f.Statement()
	return ok && h.Count == f.Done.Count()+f.Failed.Count() && h.Verify(id, key)
}

// Deliver takes in a later word of the submitter about all that it holds, with its signature
// or without. failed are those of the tasks that failed, as far as is known.
func (f *Facts) Deliver(delivery uint64, held, failed Set, signature []byte) {
	failed = failed.Minus(failed.Minus(held)) // those of them that are held
	done := held.Minus(failed)
	if len(failed) > MaxRanges || len(done) > MaxRanges {
		done, failed = slices.Clone(held), nil // which failed nobody needs to know
	}
	f.Delivery, f.Done, f.Failed, f.Signed = delivery, done, failed, signature
}

// mergeHeld takes in what another copy knows of the tasks delivered. Of two signed words of
// one delivery that of more tasks stands, and for two of the same that which has fewer for
// failed; one that is signed stands for all that are not.
func (f *Facts) mergeHeld(o *Facts) {
	switch c := f.compareHeld(o); {
	case c < 0:
		f.Delivery, f.Signed = o.Delivery, o.Signed
		f.Done, f.Failed = slices.Clone(o.Done), slices.Clone(o.Failed)
	case c == 0 && len(f.Signed) == 0:
		f.Done.Union(o.Done)
		f.Failed.Union(o.Failed)
	}
}

// LaterThan reports whether the facts have a later word of the submitter about what it holds
// than others, both signed.
func (f *Facts) LaterThan(o *Facts) bool {
	return cmp.Or(cmp.Compare(f.Delivery, o.Delivery), cmp.Compare(f.Held().Count(), o.Held().Count())) > 0 ||
		f.Delivery == o.Delivery && f.Held().Count() == o.Held().Count() && !bytes.Equal(f.Signed, o.Signed)
}

// compareHeld orders what two copies have of the tasks delivered; the larger stands. Words
// without a signature are equal within a delivery.
func (f *Facts) compareHeld(o *Facts) int {
	if c := cmp.Or(cmp.Compare(f.Delivery, o.Delivery), cmp.Compare(len(f.Signed), len(o.Signed))); c != 0 ||
		len(f.Signed) == 0 {
		return c
	}
	ranges := func(a, b Range) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) }
	return cmp.Or(
		cmp.Compare(f.Held().Count(), o.Held().Count()), bytes.Compare(f.Signed, o.Signed),
		cmp.Compare(o.Failed.Count(), f.Failed.Count()), slices.CompareFunc(f.Failed, o.Failed, ranges),
		// Of one word these two follow from what failed, unless a task is in both: Proven refuses
		// such facts, and copies that had them would stay unequal for ever.
		cmp.Compare(f.Done.Count(), o.Done.Count()), slices.CompareFunc(f.Done, o.Done, ranges))
}

// Covers reports whether the facts say all that others say of how the job stands: what they
// cost, and that a deadline passed, do not matter.
func (f *Facts) Covers(o *Facts) bool {
	wishes := f.Cancelled() || !o.Cancelled() && (f.IsEnding() || !o.IsEnding())
	return wishes && (f.compareHeld(o) > 0 || f.Delivery == o.Delivery && len(o.Held().Minus(f.Held())) == 0)
}

// Covers reports whether the row has all results and failures that another has, all that is
// void, and a checkpoint if the other has one.
func (r *Row) Covers(o *Row) bool {
	both := *r
	both.Log, both.Best, both.Lines = nil, nil, nil
	theirs := Row{Results: o.Results, Failures: o.Failures, Voided: o.Voided}
	return !both.Merge(&theirs) && (r.Best != nil || o.Best == nil) && r.coversLines(o)
}
