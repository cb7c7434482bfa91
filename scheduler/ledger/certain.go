package ledger

import (
	"bytes"
	"fmt"
	"slices"

	"godwit/task"
)

// A task is a function of what it reads: neither clock nor chance tells two runs of it apart. So a task that
// ended by its own fault in the same way on two members cannot come out otherwise, however many retries its job has
// left. One member's word alone is not enough, said as often as it likes: it may lie, or its memory may lose bits.

// mostCertain is how many failures are held against each other, the first: a job may ask for 1,000 retries, and those
// of one liar show nothing however many they are.
const mostCertain = 64

// certain is how two runs that failed show that a third would fail too.
type certain uint8

const (
	notCertain   certain = iota
	onTwoMembers         // that have nothing to do with one another
	twiceOnOwn           // from the beginning, on the machine of the job's submitter, which would harm itself alone
)

// shows reports what two failures show. The larger is what the submitter's own machine saw.
func (rule Rule) shows(a, b *task.Result) certain {
	switch {
	case a.Worker == b.Worker && a.Worker != rule.Own: // one member's word
		return notCertain
	case !a.Outcome.Reproducible() || !agree(a, b) || !bytes.Equal(a.Reads, b.Reads):
		return notCertain
	case a.Worker == b.Worker && a.Worker != "" && alone(a) && alone(b):
		return twiceOnOwn
	case task.Independent([]task.Result{*a, *b}):
		return onTwoMembers
	}
	return notCertain
}

// Certain reports whether two of some failures, each of another lease, show that the task cannot come out otherwise
// than it did in these: they ended alike, on the same bytes, by what the task does itself, and no worker answers for
// both; or both began and ended on the machine of the job's submitter.
func (rule Rule) Certain(failures []task.Result) bool {
	for k := range min(len(failures), mostCertain) {
		for i := range k {
			if rule.shows(&failures[i], &failures[k]) != notCertain {
				return true
			}
		}
	}
	return false
}

// certainty returns what the failures that count show together, and the later of the two that show it.
func (rule Rule) certainty(failed []Failure) (is certain, last *task.Result) {
	failed = failed[:min(len(failed), mostCertain)]
	for k := range slices.Backward(failed) {
		for i := range k {
			if c := rule.shows(&failed[i].Result, &failed[k].Result); c > is {
				is, last = c, &failed[k].Result
			}
		}
	}
	return is, last
}

// ByFault returns the failures by which a task is given up: more of them than retries, or two that show that it
// cannot come out otherwise. It returns none of a task that is not, or that is for results that do not agree. The
// slice is read only.
func (r *Row) ByFault(rule Rule) []Failure {
	failed := r.Failed()
	if len(failed) > rule.Retries {
		return failed
	}
	if is, _ := rule.certainty(failed); is != notCertain {
		return failed
	}
	return nil
}

// whyCertain says for people that a task ended so and cannot end otherwise; "" where nothing shows that.
func (rule Rule) whyCertain(failed []Failure) string {
	switch is, last := rule.certainty(failed); is {
	case onTwoMembers:
		return fmt.Sprintf("%s (so it ended on two members: it cannot come out otherwise)", last.Ending())
	case twiceOnOwn:
		return fmt.Sprintf("%s (so it ended twice on its submitter's machine: it cannot come out otherwise)", last.Ending())
	}
	return ""
}
