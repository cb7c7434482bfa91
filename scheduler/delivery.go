package scheduler

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// weigh counts the durable size of a result that its submitter does not hold.
func (t *jobTable) weigh(j *job, i uint64, size int) {
	t.unweigh(j, i)
	j.weights[i] = size
	j.weight += int64(size)
	t.undelivered += int64(size)
}

// unweigh takes it off again. When the coordinator has room, work goes on.
func (t *jobTable) unweigh(j *job, i uint64) {
	size, ok := j.weights[i]
	if !ok {
		return
	}
	was := t.overfull()
	delete(j.weights, i)
	j.weight -= int64(size)
	t.undelivered -= int64(size)
	if was && !t.overfull() {
		t.c.dispatch.widened = true
	}
}

// overfull reports whether submitters let too many results lie.
func (t *jobTable) overfull() bool { return t.undelivered > t.c.cfg.MaxUndelivered }

// heldUp says why a job gets no placement for now, or "".
func (t *jobTable) heldUp(j *job) string {
	switch {
	case !j.askedUntil.IsZero():
		return "the job is known from another coordinator's copy; its submitter is being asked whether it is over"
	case j.ledger.Facts.IsEnding():
		return "its submitter wants no more of the job begun"
	case j.divided:
		return "its submitter is in another cell, and has not said yet which tasks are wanted of this one"
	case t.overfull() && j.weight > 0:
		return fmt.Sprintf("its submitter has not fetched %s of results, and the leader keeps no more than %s for all jobs",
			task.FormatSize(j.weight), task.FormatSize(t.c.cfg.MaxUndelivered))
	}
	return t.heldBySlots(j)
}

// checkAsked ends the wait for a submitter that does not answer.
func (t *jobTable) checkAsked(j *job) {
	if !j.askedUntil.IsZero() && !t.c.now.Before(j.askedUntil) && !j.divided {
		t.answered(j)
	}
}

// finalAt takes in that a job is over for its submitter: what it does not hold, as it has
// just said, it does not want. Only the submitter can end its job: what other coordinators
// are told of it is its signature, and without one the job is over here alone.
func (t *jobTable) finalAt(j *job, signature []byte) {
	if j.state == jobOpen {
		if task.VerifyCancel(j.id, j.ledger.Record.PublicKey, signature) {
			j.ledger.Facts.Merge(&ledger.Facts{Cancel: signature})
			t.persistFacts(j)
		}
		t.end(j, message.DropCancelled)
		t.c.decided(task.TaskID{Job: j.id}, "cancelled", j.submitter, "the job is over for its submitter")
	}
	j.sent, j.ready = nil, nil
	for _, i := range slices.Sorted(maps.Keys(j.weights)) {
		t.unweigh(j, i)
	}
	if !j.told {
		j.told = true
		t.persistFacts(j)
		t.c.emit(message.Release{Job: j.id})
	}
}

// answered says that the submitter of a job has spoken: it is not over, unless
// it said so.
func (t *jobTable) answered(j *job) {
	if j.askedUntil.IsZero() {
		return
	}
	j.askedUntil = time.Time{}
	t.c.claims.enqueue(j)
	t.c.dispatch.widened = true
}
