package scheduler

import (
	"bytes"
	"maps"
	"slices"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// A holding is what a submitter says it holds of a job, as it came.
type holding struct {
	have      []message.Range
	delivery  uint64
	signature []byte // nil of a submitter that signs nothing
	again     []message.Again
	taken     []message.Range
	own       []message.Range
}

// A heldSet is what a submitter holds of a job, by its word.
type heldSet struct {
	tasks     ledger.Set
	delivery  uint64
	signature []byte // nil for a word that counts here alone
}

// heardHeld reads what a submitter says it holds. It returns nil if that cannot be, or the
// ledger has a later word of the submitter, which is returned then.
func (t *jobTable) heardHeld(j *job, h holding) (*heldSet, *task.Held) {
	held, err := ledger.MakeSet(h.have)
	if err != nil || len(held) > 0 && held[len(held)-1].To > j.total {
		return nil, nil
	}
	ours := &j.ledger.Facts
	if !t.c.cfg.Signed || len(h.signature) == 0 {
		return &heldSet{tasks: held, delivery: ours.Delivery}, nil
	}
	theirs := &ledger.Facts{}
	theirs.Deliver(h.delivery, held, nil, h.signature)
	if h.delivery > ledger.MaxDelivery || !theirs.Proven(j.id, j.ledger.Record.PublicKey) {
		t.c.decided(task.TaskID{Job: j.id}, "refused", j.submitter, "what it says it holds is not signed by it")
		return nil, nil
	}
	if later, ok := ours.Statement(); ok && ours.LaterThan(theirs) {
		return nil, &later
	}
	return &heldSet{held, h.delivery, h.signature}, nil
}

// holds takes in what the submitter of a job holds of it. What it lacks of what it was
// thought to hold is open again, unless its row is still here: that happens when it lost its
// disk. A word that is not signed says so only where it is whole.
func (t *jobTable) holds(j *job, h *heldSet, whole bool) {
	f := &j.ledger.Facts
	was := f.Held()
	lost, news := was.Minus(h.tasks), h.tasks.Minus(was)
	if h.signature == nil && len(lost) > 0 {
		if whole && h.delivery < ledger.MaxDelivery {
			h.delivery++
		} else {
			h.tasks = slices.Clone(h.tasks)
			h.tasks.Union(was)
			lost = nil
		}
	}
	known := h.signature == nil || h.delivery == f.Delivery && bytes.Equal(h.signature, f.Signed)
	if len(lost)+len(news) == 0 && known || len(h.tasks) > ledger.MaxRanges {
		return
	}
	if len(news) > 0 {
		t.endHeld(j, news)
	}
	f.Deliver(h.delivery, h.tasks, j.failedOf(news), h.signature)
	t.deliverAll(j, news)
	if len(lost) > 0 {
		t.c.decided(task.TaskID{Job: j.id}, "reopened", j.submitter,
			"its submitter lacks results that it was thought to hold")
		t.persistFacts(j)
		t.redelivered(j)
	} else if len(news) == 0 {
		t.persistFacts(j)
	}
}

// failedOf returns which tasks of a job failed, of those delivered and those that arrive now.
func (j *job) failedOf(news ledger.Set) ledger.Set {
	failed := j.ledger.Facts.Failed.Minus(j.ledger.Facts.Done) // what is in both is done
	failed.Union(j.skipped(news))
	if j.failed == 0 {
		return failed
	}
	for _, i := range slices.Concat(j.sent, j.ready, j.keptTasks()) {
		if news.Contains(i) && j.ledger.Verdict(i) == ledger.Failed {
			failed.Add(i)
		}
	}
	return failed
}

// endHeld ends what runs of tasks whose ends the submitter holds.
func (t *jobTable) endHeld(j *job, news ledger.Set) {
	for _, i := range slices.Sorted(maps.Keys(j.live)) {
		if news.Contains(i) {
			t.c.endLeases(j, i, message.DropSuperseded)
		}
	}
}

// deliverAll moves what the submitter has come to hold out of the way. Tasks of which this
// ledger has no end are done all the same.
func (t *jobTable) deliverAll(j *job, news ledger.Set) {
	n, left := len(t.kept), news.Count()
	take := func(i uint64) bool {
		if !j.ledger.Delivered(i) {
			return false
		}
		if news.Contains(i) {
			left--
			t.deliver(j, i)
			t.kept = append(t.kept, task.TaskID{Job: j.id, Index: i})
		}
		return true
	}
	j.sent = slices.DeleteFunc(j.sent, take)
	if left > 0 {
		j.ready = slices.DeleteFunc(j.ready, take)
	}
	if j.flowing != nil && left > 0 {
		j.kept = slices.DeleteFunc(j.kept, take)
	}
	if len(t.kept) > n {
		// Followers need no more of the rows, and hear so at the next tick. Here the
		// facts are written when rows go: the submitter says again what it holds.
		t.c.replicas.Delivered(j.id)
		t.compact(j)
	}
	switch {
	case left == 0:
	case j.flowing != nil: // of tasks that never ran, too
		t.persistFacts(j)
		t.recount(j)
		t.settleAll(j, news)
		t.endIfOver(j)
	case j.state == jobOver: // its rows are told to nobody any more
		t.persistFacts(j)
		t.recount(j)
	default:
		j.done += left
		j.moveCursor(j.wait.cursor)
		t.persistFacts(j)
		t.endIfOver(j)
	}
}
