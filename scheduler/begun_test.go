package scheduler

import (
	"testing"
	"time"

	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// TestStatusTellsWhenItBegan: the leader tells when a worker began an attempt from the
// first word of its end, half of the ways after the lease and the queue.
func TestStatusTellsWhenItBegan(t *testing.T) {
	c, _, worker, step := school(t, 1, true)
	l := c.members.hosts[worker].leases[0]
	key, _ := schedtest.Identity(2)
	r := task.Result{Task: l.taskID(), Worker: worker, Outcome: task.Completed}
	if err := r.Sign(key); err != nil {
		t.Fatal(err)
	}
	given := l.start
	for _, b := range []message.Begun{{Queued: 100 * time.Millisecond, Ago: 500 * time.Millisecond},
		{Queued: time.Second, Ago: time.Second}} {
		step(700*time.Millisecond, &message.Received{From: worker,
			Message: &message.Message{Report: &message.Report{Slots: 2,
				Ended: []message.Ending{{Attempt: l.attempt, Result: r, Begun: &b}}}}})
	}
	st, _ := c.Job(l.job.id, message.Page{Limit: 1})
	a := st.TasksList[0].Attempts[0]
	if got := a.Began.Sub(given); got != 150*time.Millisecond || !a.Start.Equal(given) ||
		a.End.Sub(given) != 700*time.Millisecond {
		t.Errorf("it began %v after its lease, and ended after %v: want 150ms and 700ms", got, a.End.Sub(given))
	}
}
