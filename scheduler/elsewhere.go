package scheduler

import (
	"slices"
	"time"

	"godwit/task"
)

// elsewhereFor is how long a task that failed by what it does waits for a member on which it did not: where it ran it
// would come to the same, and another member's word is what tells that from a liar's. It is a minute, so that a task
// does not wait for hours where all others are in use.
const elsewhereFor = time.Minute

// failedOn lists the workers on which a task failed a moment ago by what it does itself. They are to have it again
// only if nobody else may.
func failedOn(j *job, i uint64, now time.Time) (peers []task.PeerID) {
	row := j.ledger.Rows[i]
	if row == nil || len(row.Failures) == 0 {
		return nil
	}
	var last time.Time
	for _, f := range row.Failed() {
		if !f.Result.Outcome.Reproducible() || j.barred[i].asks(f.Result.Worker) {
			continue
		}
		if !slices.Contains(peers, f.Result.Worker) {
			peers = append(peers, f.Result.Worker)
		}
		for k := range row.Log {
			if l := &row.Log[k]; l.Worker == f.Result.Worker && l.End.After(last) {
				last = l.End.Time
			}
		}
	}
	if !now.Before(last.Add(elsewhereFor)) {
		return nil
	}
	return peers
}

// voidOn lists the workers whose completed runs of a task are void. Other workers are to run it next, if there are any.
func voidOn(j *job, i uint64) (peers []task.PeerID) {
	row := j.ledger.Rows[i]
	if row == nil || len(row.Voided) == 0 {
		return nil
	}
	for k := range row.Results {
		if r := &row.Results[k]; row.IsVoid(r) && !j.barred[i].asks(r.Worker) {
			peers = append(peers, r.Worker)
		}
	}
	return peers
}

// anotherMay reports whether there is a member that may have a task and is none of those.
func anotherMay(t *jobTable, j *job, i uint64, avoid []task.PeerID) bool {
	memory := j.spec.MemoryOf(i)
	return slices.ContainsFunc(t.c.members.roster.all(), func(h *host) bool {
		return h.eligible() && h.memory >= memory && !slices.Contains(avoid, h.peer) && !j.barred[i].bars(h.peer) &&
			!j.isRefused(h)
	})
}
