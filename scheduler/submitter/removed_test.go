package submitter

import (
	"testing"
	"time"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// removes has tasks of a job removed.
func (b *subBench) removes(id task.JobID, from, to uint64) {
	b.step(message.RemoveTasks{Job: id, Tasks: []message.Range{{From: from, To: to}}})
}

// A removed task ends here, the leader hears of it by a signed word, and what a worker makes of it later does not count.
// The job is over when all others have ended, also after a restart.
func TestRemovedTasksEnd(t *testing.T) {
	b := newSubBench(t)
	b.s.cfg.Signs = true
	id := b.offer(5, 0)
	b.bring(id, message.JobRunning, "a", 1)
	b.pass(time.Second)
	b.removes(id, 1, 4) // of which one has ended
	_, held := b.says(id)
	if want := (ledger.Set{{From: 1, To: 4}}); held.Minus(want).Count()+want.Minus(held).Count() > 0 {
		t.Fatalf("the leader hears that %v is held, want %v", held, want)
	}
	st, _ := b.s.Job(id)
	if st.Removed != 2 || st.Tasks.Failed != 2 || st.Tasks.Done != 1 || st.Tasks.Waiting+st.Tasks.Running != 2 || st.Final {
		t.Fatalf("after the removal it is %+v", st)
	}
	b.bring(id, message.JobRunning, "a", 2) // a late result
	b.restart()
	b.bring(id, message.JobRunning, "a", 3)
	if st, _ = b.s.Job(id); st.Removed != 2 || st.Tasks.Done != 1 || st.Tasks.Failed != 2 {
		t.Fatalf("after late results and a restart it is %+v", st)
	}
	b.bring(id, message.JobDone, "a", 0, 4)
	b.answer(id, 0, "")
	if st, _ = b.s.Job(id); !st.Final || st.State != message.JobDone || st.Tasks.Done != 3 || st.Tasks.Failed != 2 {
		t.Errorf("in the end it is %+v", st)
	}
	b.restart()
	if st, _ = b.s.Job(id); st.Removed != 2 || st.State != message.JobDone {
		t.Errorf("after another restart it is %+v", st)
	}
}

// A job of which all tasks are removed is cancelled, and ends without a leader's word.
func TestRemovingAllTasksCancels(t *testing.T) {
	b := newSubBench(t)
	id := b.offer(3, 0)
	b.removes(id, 0, 3)
	if st, _ := b.s.Job(id); !st.Final || st.State != message.JobCancelled || st.Removed != 3 {
		t.Errorf("it is %+v", st)
	}
}

// What cannot be removed stays, and the reason is told beforehand.
func TestRemovalsThatDoNothing(t *testing.T) {
	b := newSubBench(t)
	id := b.offer(20_000, 0)
	over := b.offer(1, 1)
	b.bring(over, message.JobDone, "a", 0)
	b.answer(over, 0, "")
	b.bring(id, message.JobRunning, "a", 7)
	for name, tt := range map[string]struct {
		job  task.JobID
		from message.Range
	}{
		"ended":    {id, message.Range{From: 7, To: 8}},
		"beyond":   {id, message.Range{From: 20_000, To: 20_001}},
		"too many": {id, message.Range{From: 0, To: MaxRemoved + 1}},
		"backward": {id, message.Range{From: 8, To: 2}},
		"over":     {over, message.Range{From: 0, To: 1}},
		"unknown":  {"nonsense", message.Range{From: 0, To: 1}},
	} {
		if _, why := Removable(b.s, tt.job, []message.Range{tt.from}); why == "" {
			t.Errorf("%s: there is no reason", name)
		}
		b.step(message.RemoveTasks{Job: tt.job, Tasks: []message.Range{tt.from}})
		if st, _ := b.s.Job(id); st.Removed != 0 {
			t.Errorf("%s: %d tasks are removed", name, st.Removed)
		}
	}
	if n, why := Removable(b.s, id, []message.Range{{From: 5, To: 9}}); n != 3 || why != "" {
		t.Errorf("%d of 5 to 8 can be removed: %s", n, why)
	}
}

// The leader of another cell hears at once that lent tasks were removed, and runs none of them.
func TestRemovedTasksLeaveOtherCells(t *testing.T) {
	b := newLendBench(t, 100, 1, nil)
	b.others[0].load.Idle = 0
	b.tellCells()
	b.accept(b.home)
	half := b.others[0]
	b.runs(half, 4, 10)
	b.tell(message.RemoveTasks{Job: b.id, Tasks: []message.Range{{From: 2, To: 7}}})
	b.pass(time.Second)
	if got, want := b.wanted(half), (ledger.Set{{From: 7, To: 10}}); got.Minus(want).Count()+want.Minus(got).Count() > 0 {
		t.Errorf("of the other half %v are wanted, want %v", got, want)
	}
	if got := b.wanted(b.home); got.Contains(2) || got.Contains(5) || !got.Contains(20) {
		t.Errorf("the home is to run %v", got)
	}
	b.check(t)
}
