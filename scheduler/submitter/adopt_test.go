package submitter

import (
	"slices"
	"testing"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
)

// runs has the leader of a half of what was the home say which tasks run there.
func (b *lendBench) runs(l *cellLeader, from, to uint64) {
	b.tell(&message.Received{From: l.peer, Message: &message.Message{Progress: &message.Progress{Job: b.id,
		Summary: message.JobSummary{State: message.JobRunning, Running: to - from},
		Runs:    []message.Range{{From: from, To: to}}}}})
}

// TestRunningTasksAreAdopted: what runs in the half that has gone becomes a loan: the home leaves it, each result is
// taken once, and nothing more is wanted of the other half than that, until it is lent more.
func TestRunningTasksAreAdopted(t *testing.T) {
	b := newLendBench(t, 100, 1, nil)
	b.others[0].load.Idle = 0 // all of it is busy
	b.tellCells()
	b.accept(b.home)
	half := b.others[0]
	b.runs(half, 4, 10)
	if got, want := b.wanted(half), (ledger.Set{{From: 4, To: 10}}); !slices.Equal(got, want) {
		t.Fatalf("of the other half %v are wanted, want %v", got, want)
	}
	if got := b.wanted(b.home); got.Contains(4) || got.Contains(9) || !got.Contains(3) || !got.Contains(10) {
		t.Errorf("the home is to run %v", got)
	}
	b.check(t)
	was := half.offers
	b.runs(half, 4, 10) // said again, on its way when it was told
	if got := b.wanted(half); half.offers != was || got.Count() != 6 {
		t.Errorf("it says so twice, and is offered the job %d times more, and %v are wanted", half.offers-was, got)
	}
	b.brings(half, 6)
	if n := b.s.Held(b.id).Count(); n != 6 {
		t.Errorf("%d results are held, want 6", n)
	}
	b.check(t)
}

// TestLiarsAdoptNoMore: who says that it runs all of a job, without slots for it or where nobody knows it, keeps no
// more of it than any borrower that lies about its slots, and no longer.
func TestLiarsAdoptNoMore(t *testing.T) {
	b := newLendBench(t, 1000, 1, nil)
	b.others[0].load.Idle = 0
	b.home.load.Slots, b.others[0].load.Slots = 10, 1<<30
	b.tellCells()
	b.accept(b.home)
	liar := b.others[0]
	b.runs(liar, 0, 1000)
	if n := b.wanted(liar).Count(); n == 0 || n > mostRoom*10 {
		t.Errorf("it runs %d tasks, by its word; the home has 10 slots", n)
	}
	_, peer := schedtest.Identity(77)
	stranger := &cellLeader{peer: peer}
	b.others = append(b.others, stranger) // of whom no summary was heard
	b.runs(stranger, 0, 1000)
	b.runs(stranger, 990, 2000)
	if stranger.heard {
		t.Errorf("a stranger was told what is wanted: %v", b.wanted(stranger))
	}
	b.runs(liar, 900, 1001) // beyond the job
	b.check(t)
	b.pass(lendSilence + lendEvery)
	if n := b.wanted(liar).Count(); n > 0 {
		t.Errorf("it said nothing for two minutes, and keeps %d", n)
	}
	b.check(t)
}

// TestEmptyRangesAreNotAdopted: a leader of the other half that reports running tasks with an empty range gets none of
// the job.
func TestEmptyRangesAreNotAdopted(t *testing.T) {
	b := newLendBench(t, 40, 1, nil)
	b.others[0].load.Idle = 0
	b.tellCells()
	b.accept(b.home)
	b.tell(&message.Received{From: b.others[0].peer, Message: &message.Message{Progress: &message.Progress{Job: b.id,
		Summary: message.JobSummary{State: message.JobRunning, Running: 5}, Runs: []message.Range{{From: 7, To: 7}}}}})
	if n := len(Loans(b.s, b.id)); n > 0 {
		t.Errorf("%d cells got tasks of an empty range", n)
	}
	b.check(t)
}
