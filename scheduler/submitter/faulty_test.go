package submitter

import (
	"testing"

	"godwit/scheduler/message"
)

// TestStoredResultsOfFaultyWorkersAreMarked proves a fault of a worker after one of its results was stored. The result is
// marked for its owner, and no peer may set the mark.
func TestStoredResultsOfFaultyWorkersAreMarked(t *testing.T) {
	b := newGateBench(t, nil)
	results := map[int]message.TaskSummary{}
	for k, worker := range []int{gateWorker, gateOther} {
		i := uint64(k)
		r := b.run(worker, gateLeader, i, b.now)
		if why := b.brings(gateLeader, false, i, r); why != "" {
			t.Fatal(why)
		}
		results[worker] = message.TaskSummary{Index: i, Results: append(results[worker].Results, r)}
	}
	b.s.audits.credit(peerOf(gateWorker)).Faults++
	for worker, want := range map[int]bool{gateWorker: true, gateOther: false} {
		if end := results[worker]; b.s.Faulty(b.id, &end) != want {
			t.Errorf("the result of worker %d is marked: %v", worker, !want)
		}
	}
	end := message.TaskSummary{Index: 5, Results: results[gateOther].Results, Faulty: true}
	if b.s.checkEnd(peerOf(gateLeader), b.s.jobs[b.id], &end) == nil {
		t.Error("a peer may mark results")
	}
}
