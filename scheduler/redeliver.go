package scheduler

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// maxLeap is how many deliveries another copy may be ahead of this one. More than
// a few never come from honest copies; each telling of a false one costs the
// submitter's next word, and MaxDelivery is far.
const maxLeap = 1 << 10

// vetFacts looks at facts of a job that another copy told of. What the submitter
// signed is checked; a deadline is believed if it has passed here. Which tasks were
// delivered counts with its signature alone, where signatures are made.
func vetFacts(j *ledger.Job, f *ledger.Facts, signed bool, now time.Time) error {
	total := j.Spec.Tasks()
	for _, set := range []ledger.Set{f.Done, f.Failed} {
		if n := len(set); n > 0 && set[n-1].To > total {
			return fmt.Errorf("facts of task %d, the job has %d", set[n-1].To-1, total)
		}
	}
	switch {
	case !signed || f.Proven(j.Record.ID(), j.Record.PublicKey):
	case len(f.Signed) > 0:
		return errors.New("a set of delivered tasks that the job's submitter did not sign")
	default: // what its submitter said to a copy of before it signed, and will say again
		f.Done, f.Failed, f.Delivery = nil, nil, 0
	}
	if !j.Facts.HasRoom(f) {
		return fmt.Errorf("facts of more than %d ranges of tasks", ledger.MaxRanges)
	}
	if ours := j.Facts.Delivery; !signed && f.Delivery > ours+maxLeap {
		return fmt.Errorf("delivery %d, after %d here", f.Delivery, ours)
	}
	if f.Cancelled() && !bytes.Equal(f.Cancel, j.Facts.Cancel) &&
		!task.VerifyCancel(j.Record.ID(), j.Record.PublicKey, f.Cancel) {
		return fmt.Errorf("a cancel that the job's submitter did not sign")
	}
	if f.IsEnding() && !bytes.Equal(f.Ending, j.Facts.Ending) &&
		!task.VerifyCancel(j.Record.ID(), j.Record.PublicKey, f.Ending) {
		return fmt.Errorf("a wish to end that the job's submitter did not sign")
	}
	if at, ok := deadlineOf(j.Spec); !ok || now.Before(at) {
		f.Expired = false
	}
	return nil
}

// redelivered makes what is kept of a job anew after another delivery began.
func (t *jobTable) redelivered(j *job) {
	t.recount(j)
	if j.state == jobOver && !j.ledger.Over() {
		j.state, j.told = jobOpen, false
		t.armDeadline(j)
	}
	j.moveCursor(0)
	j.sent, j.ready = nil, nil
	if j.flowing != nil {
		j.kept = nil
	}
	for _, i := range slices.Sorted(maps.Keys(j.ledger.Rows)) {
		if j.ledger.Verdict(i) == ledger.Open {
			t.c.reports.waitAgain(j, i)
			continue
		}
		t.weigh(j, i, rowBytes(j.ledger.Rows[i]))
		j.ready = append(j.ready, i)
	}
	t.settleAnew(j)
	if j.flowing != nil { // of what was delivered until now, and its submitter still holds, no row may be here
		takesUp(t, j, j.theirs)
	}
	t.c.claims.enqueue(j)
	t.c.dispatch.widened = true
	t.c.touch(j)
	t.endIfOver(j)
}

// recount makes a job's counters anew after tasks were found to be delivered.
func (t *jobTable) recount(j *job) {
	keep := func(id task.TaskID) bool { return id.Job == j.id }
	t.kept = slices.DeleteFunc(t.kept, keep)
	for _, i := range j.ledger.Compact() {
		t.c.emit(message.Persist{Key: coordinatorPrefix + ledger.RowKey(task.TaskID{Job: j.id, Index: i})})
		t.unweigh(j, i)
	}
	gone := func(i uint64) bool { return j.ledger.Rows[i] == nil }
	j.sent, j.ready = slices.DeleteFunc(j.sent, gone), slices.DeleteFunc(j.ready, gone)
	if j.flowing != nil {
		j.kept = slices.DeleteFunc(j.kept, gone)
	}
	f := &j.ledger.Facts
	j.done, j.failed = f.Done.Count(), f.Failed.Minus(f.Done).Count()
	for _, row := range j.ledger.Rows {
		switch row.Verdict(j.ledger.Rule()) {
		case ledger.Done:
			j.done++
		case ledger.Failed:
			j.failed++
		}
	}
	j.moveCursor(j.wait.cursor)
}
