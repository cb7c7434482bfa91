package ledger

import (
	"fmt"

	"godwit/task"
)

// MaxPairBytes bounds an encoded row and encoded facts. A row of that size and what is sent
// with it, of at most message.BatchBytes, fit into a frame; the largest result is half of it.
const MaxPairBytes = 11 << 18

// maxNamed is more than the text of any peer's ID has, and of any outcome, in bytes.
const maxNamed = 128

// bounded reports whether the names in a line are such as a leader writes.
func (l *AttemptLog) bounded() bool {
	outcome := task.Printable(l.Outcome, maxNamed)
	return len(l.Worker) <= maxNamed && len(l.MovedTo) <= maxNamed && l.Outcome == outcome
}

// sides is how many sides of a split may each have run a task as often as its job's rule
// says before their copies of its row meet. What more of them bring is done again.
const sides = 2

// most are how many results and failures a row of a job with that rule may have.
func (r *Row) most(rule Rule) (results, failures int) {
	return sides*rule.Most() + len(r.Voided), sides*(rule.Retries+1) + len(r.Voided)
}

// bound checks that a row of a job with that rule can be told others and kept.
func (r *Row) bound(rule Rule) error {
	results, failures := r.most(rule)
	if len(r.Results) > results || len(r.Failures) > failures {
		return fmt.Errorf("%d results and %d failures of a task, the job allows for %d and %d", len(r.Results),
			len(r.Failures), results, failures)
	}
	b, err := r.Encode()
	if err != nil {
		return err
	}
	if len(b) > MaxPairBytes {
		return fmt.Errorf("a row of %d bytes, the most is %d", len(b), MaxPairBytes)
	}
	return nil
}

// Take merges as Merge does what came from elsewhere, of a task of a job with that rule. A
// row that would be beyond its bounds then, or would not encode, is refused: nothing of it
// is taken.
func (r *Row) Take(o *Row, rule Rule) (changed bool, err error) {
	both := *r
	if !both.Merge(o) {
		return false, nil
	}
	if err := both.bound(rule); err != nil {
		return false, err
	}
	*r = both
	return true, nil
}

// What a row takes beside its results and what is void, each of these beside its worker's
// name, and a result beside its outputs, at most, in bytes, if it is of a result that
// verifies: names, numbers, signatures, and 32 lines of log.
const (
	restBytes   = 256 << 10
	voidBytes   = 32
	resultBytes = 800 + task.MaxMessage
	trailBytes  = 100
	linkBytes   = 700
	wayBytes    = 200 // of a witness
	outputBytes = 100
)

// ResultBytes is at least the encoded size of a result that verifies, and not much more.
func ResultBytes(r *task.Result) int {
	n := resultBytes - task.MaxMessage + len(r.Message) + len(r.Reads) + len(r.Path)
	if r.Trail != nil {
		n += trailBytes + linkBytes*len(r.Trail.Began)
		for k := range r.Trail.Began {
			for i := range r.Trail.Began[k].With {
				n += wayBytes + linkBytes*len(r.Trail.Began[k].With[i].Chain)
			}
		}
	}
	for i := range r.Outputs {
		n += outputBytes + len(r.Outputs[i].Name) + len(r.Outputs[i].Inline)
	}
	return n
}

// HasRoom reports whether a row of a job with that rule stays within its bounds if it gets a
// result that verifies. A row without any has.
func (r *Row) HasRoom(res *task.Result, rule Rule) bool {
	if len(r.Results)+len(r.Failures) == 0 {
		return true
	}
	results, failures := r.most(rule)
	if res.Outcome == task.Completed && len(r.Results) >= results ||
		res.Outcome.OwnFault() && len(r.Failures) >= failures {
		return false
	}
	n := restBytes + ResultBytes(res)
	for i := range r.Results {
		n += ResultBytes(&r.Results[i])
	}
	for i := range r.Failures {
		n += ResultBytes(&r.Failures[i].Result)
	}
	for i := range r.Voided {
		n += voidBytes + len(r.Voided[i].Worker)
	}
	return n <= MaxPairBytes
}

// HasRoom reports whether facts stay within their bounds if they are merged with others.
func (f *Facts) HasRoom(o *Facts) bool {
	return o.Delivery != f.Delivery || len(o.Signed)+len(f.Signed) > 0 ||
		max(len(f.Done)+len(o.Done), len(f.Failed)+len(o.Failed)) <= MaxRanges
}
