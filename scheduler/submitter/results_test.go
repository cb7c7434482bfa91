package submitter

import (
	"slices"
	"strings"
	"testing"
	"time"

	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// answer ends the fetch of one task's result.
func (b *subBench) answer(id task.JobID, i uint64, err string) {
	b.tb.Helper()
	key := ResultKey(id, i)
	if !b.fetches[key] {
		b.tb.Fatalf("task %d is not being fetched", i)
	}
	delete(b.fetches, key)
	b.step(message.Fetched{Key: key, Err: err})
}

// TestSubmitterNamesWhatItLacks: blocks that nobody has are told of after four
// tries and tried on, and another result of the task takes the place of the
// one that cannot be had.
func TestSubmitterNamesWhatItLacks(t *testing.T) {
	b := newSubBench(t)
	id := b.offer(2, 0)
	b.bring(id, message.JobRunning, "first", 0, 1)
	for try := 1; try < lackAfter; try++ {
		b.answer(id, 0, "no holder")
		if g := b.gots(id); len(g) > 0 {
			t.Fatalf("after %d tries it said %+v", try, g[0])
		}
		b.pass(b.timing.RetryMax)
	}
	b.answer(id, 0, "no holder")
	g := b.gots(id)
	if len(g) != 1 || !slices.Equal(g[0].Lacking, []message.Range{{From: 0, To: 1}}) ||
		!slices.Equal(g[0].Have, []message.Range{{From: 1, To: 2}}) {
		t.Fatalf("got %+v, want task 0 lacking", g)
	}
	if st, _ := b.s.Job(id); !strings.Contains(st.Reason, "nowhere to be had") {
		t.Errorf("reason %q", st.Reason)
	}
	b.pass(b.timing.RetryMax)
	if !b.fetches[ResultKey(id, 0)] {
		t.Fatal("it does not try again")
	}
	b.bring(id, message.JobRunning, "first", 0) // the same once more changes nothing
	b.bring(id, message.JobRunning, "second", 0)
	b.answer(id, 0, "no holder") // of the first
	if !b.fetches[ResultKey(id, 0)] {
		t.Fatal("the second result is not fetched at once")
	}
	b.answer(id, 0, "")
	sum, err := DecodeSummary(b.disk[ResultKey(id, 0)])
	if err != nil || string(sum.Results[0].Signature) != "second" {
		t.Errorf("holds %+v, %v; want the second result", sum, err)
	}
	if g := b.gots(id); len(g) != 1 || !g[0].Final || len(g[0].Lacking) > 0 {
		t.Errorf("got %+v, want that it is over", g)
	}
}

// TestSubmitterReplacesBetweenTries: a result that comes while another waits
// for its next try is fetched in its place at once; one without blocks is held.
func TestSubmitterReplacesBetweenTries(t *testing.T) {
	b := newSubBench(t)
	id := b.offer(4, 0)
	b.bring(id, message.JobRunning, "a", 0, 3)
	b.answer(id, 0, "no holder")
	b.bring(id, message.JobRunning, "b", 0)
	b.answer(id, 0, "")
	b.answer(id, 3, "no holder")
	p := &message.Progress{Job: id, Tasks: []message.TaskSummary{{Index: 3, Failed: true, Reason: "it fails"}}}
	b.say(message.Message{Progress: p})
	if held := b.s.Held(id); !slices.Equal(held, []message.Range{{From: 0, To: 1}, {From: 3, To: 4}}) ||
		len(b.s.fetches) > 0 {
		t.Errorf("holds %v and fetches %d", held, len(b.s.fetches))
	}
}

// TestSubmitterEndsWithoutWhatIsLost: a cancelled job does not wait forever for
// a result that nobody has and that nobody will make again.
func TestSubmitterEndsWithoutWhatIsLost(t *testing.T) {
	b := newSubBench(t)
	id := b.offer(5, 0)
	b.step(message.CancelJob{Job: id})
	b.bring(id, message.JobCancelled, "a", 0, 1)
	b.outage(lackAfter)
	st, _ := b.s.Job(id)
	if !st.Final || st.State != message.JobCancelled || st.Held != 1 || len(b.s.fetches) > 0 {
		t.Errorf("got %+v, %d fetches", st, len(b.s.fetches))
	}
}

// TestSubmitterBoundsFetches: no leader can make it fetch without bound.
func TestSubmitterBoundsFetches(t *testing.T) {
	b := newSubBench(t)
	const tasks = 100_000
	id := b.offer(tasks, 0)
	for i := uint64(0); i < tasks; i += 3 {
		if i%7 != 6 {
			b.bring(id, message.JobRunning, "a", i)
		}
	}
	if len(b.s.fetches) != maxFetching {
		t.Errorf("%d fetches, want %d", len(b.s.fetches), maxFetching)
	}
}

// TestSubmitterRefusedForNow: a leader without room is obeyed, and shown.
func TestSubmitterRefusedForNow(t *testing.T) {
	b := newSubBench(t)
	id := b.offer(1, 0)
	b.say(message.Message{Accepted: &message.Accepted{Job: id, Error: "the leader takes no more for now",
		RetryAfter: time.Hour}})
	st, _ := b.s.Job(id)
	if want := "the leader takes no more for now; trying again in 1m0s"; st.Reason != want || st.Error != "" || st.Final {
		t.Errorf("got %+v, want reason %q", st, want)
	}
	b.pass(b.timing.RetryMax - time.Millisecond)
	if n := offers(b.last); n > 0 {
		t.Error("it did not wait")
	}
	b.pass(time.Millisecond)
	if n := offers(b.last); n != 1 {
		t.Errorf("%d offers when the time came", n)
	}
	b.say(message.Message{Accepted: &message.Accepted{Job: id}})
	if st, _ := b.s.Job(id); st.Reason != "" {
		t.Errorf("accepted, and still %q", st.Reason)
	}
	b.step(message.LeaderChanged{})
	if st, _ := b.s.Job(id); st.Reason != "no coordinator is known" {
		t.Errorf("without a leader: %q", st.Reason)
	}
}

// Outputs that the leader who brought a result has not any more are sought at who brings it again.
func TestOutputsOfAnotherLeader(t *testing.T) {
	b := newSubBench(t)
	id := b.offer(1, 1)
	key, _ := schedtest.Identity(3)
	r := task.Result{Task: task.TaskID{Job: id}, Outcome: task.Completed,
		Outputs: []task.Output{{Name: task.Stdout, CID: task.RawCID([]byte("large")), Size: 1 << 20}}}
	if err := r.Sign(key); err != nil {
		t.Fatal(err)
	}
	bring := message.Message{Progress: &message.Progress{Job: id, Tasks: []message.TaskSummary{{
		Results: []task.Result{r}}}}}
	b.s.cfg.Receipts = false
	for n := range 2 {
		_, leader := schedtest.Identity(4 + n)
		b.step(message.LeaderChanged{Leader: leader, Epoch: uint64(2 + n)})
		b.step(&message.Received{From: leader, Message: &bring})
	}
	_, last := schedtest.Identity(5)
	found := false
	delete(b.fetches, ResultKey(id, 0))
	b.step(message.Fetched{Key: ResultKey(id, 0), Err: "nobody has it"})
	for range 3 {
		b.now = b.now.Add(b.timing.RetryMax)
		b.step(message.Wake{})
		for _, e := range b.last {
			f, ok := e.(message.Fetch)
			found = found || ok && slices.Contains(f.Holders, last)
		}
	}
	if !found {
		t.Error("who leads now is not asked")
	}
}
