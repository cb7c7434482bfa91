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

// TestAheadWaits: of the tasks that a member has, those beyond its slots are told as waiting until one before them has
// ended, or their worker says that they run.
func TestAheadWaits(t *testing.T) {
	c, _, worker, step := school(t, 3, true)
	h := c.members.hosts[worker]
	counts := func(when string, waiting, running uint64) {
		t.Helper()
		j := h.leases[0].job
		if got := j.summary(); got.Waiting != waiting || got.Running != running {
			t.Errorf("%s: %d wait and %d run, want %d and %d", when, got.Waiting, got.Running, waiting, running)
		}
		for _, l := range h.leases {
			want := "running"
			if !l.begun {
				want = "waiting"
			}
			if got := j.taskState(l.task.index); got != want {
				t.Errorf("%s: task %d is %s, want %s", when, l.task.index, got, want)
			}
		}
		if err := checkGrid(c, j); err != nil {
			t.Errorf("%s: %v", when, err)
		}
	}
	c.addLease(h.leases[0].job, h, 2, message.Attempt{Epoch: 1, Seq: 9}, "ahead", nil)
	counts("given", 1, 2)
	last := h.leases[2]
	step(time.Second, &message.Received{From: worker, Message: &message.Message{Report: &message.Report{Slots: 2,
		Held: []message.Held{{Task: last.taskID(), Attempt: last.attempt, Running: true}}}}})
	counts("its worker says that the last runs", 0, 3)
	step(time.Second, &message.Received{From: worker, Message: &message.Message{Report: &message.Report{Slots: 1}}})
	counts("the member has fewer slots", 0, 3)
}
