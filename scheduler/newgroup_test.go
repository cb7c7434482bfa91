package scheduler

import (
	"testing"
	"time"

	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// TestNewGroupLetsWorkersKeep: a coordinator that has just begun does not know
// which jobs there are: workers keep what they run of others, and its results,
// until the submitters had time to offer them.
func TestNewGroupLetsWorkersKeep(t *testing.T) {
	_, self := schedtest.Identity(0)
	key, worker := schedtest.Identity(1)
	rec := schedtest.Job(t, key, 2, nil)
	r := task.Result{Task: task.TaskID{Job: rec.ID()}, Outcome: task.Completed}
	if err := r.Sign(key); err != nil {
		t.Fatal(err)
	}
	c := NewCoordinator(self, Default(), 7)
	report := &message.Received{From: worker, Message: &message.Message{Report: &message.Report{
		Slots: 2, Full: true, Ended: []message.Ending{{Attempt: message.Attempt{Epoch: 3, Seq: 1}, Result: r}},
		Held: []message.Held{{Task: task.TaskID{Job: rec.ID(), Index: 1}, Attempt: message.Attempt{Epoch: 3, Seq: 2},
			Running: true}},
	}}}
	for _, tt := range []struct {
		after time.Duration
		want  int
	}{{0, 0}, {time.Minute, 0}, {newGroupGrace - 1, 0}, {newGroupGrace, 1}} {
		var ended, dropped int
		for _, e := range c.Step(schedtest.Start.Add(tt.after), report) {
			if s, ok := e.(message.Send); ok && s.Message.Ack != nil {
				ended += len(s.Message.Ack.Ended)
				dropped += len(s.Message.Ack.Drop)
			}
		}
		if ended != tt.want || dropped != tt.want {
			t.Errorf("after %v %d results are acknowledged and %d leases dropped, want %d", tt.after, ended, dropped, tt.want)
		}
	}
}

// TestNewGroupUsesKeptResults: all coordinators lose what they know while a
// result waits at its worker: the job, offered again, takes it as it is.
func TestNewGroupUsesKeptResults(t *testing.T) {
	_, self := schedtest.Identity(0)
	workerKey, worker := schedtest.Identity(1)
	key, owner := schedtest.Identity(2)
	rec := schedtest.Job(t, key, 1, nil)
	r := task.Result{Task: task.TaskID{Job: rec.ID()}, Outcome: task.Completed}
	if err := r.Sign(workerKey); err != nil {
		t.Fatal(err)
	}
	c := NewCoordinator(self, Default(), 7)
	kept := &message.Received{From: worker, Message: &message.Message{Report: &message.Report{Slots: 2,
		Ended: []message.Ending{{Attempt: message.Attempt{Epoch: 3, Seq: 1}, Result: r}}}}}
	c.Step(schedtest.Start, kept)
	for _, e := range c.Step(schedtest.Start.Add(time.Minute),
		&message.Received{From: owner, Message: &message.Message{Submit: &message.Submit{Record: rec}}}) {
		if f, ok := e.(message.Fetch); ok {
			c.Step(schedtest.Start.Add(time.Minute), message.Fetched{Key: f.Key})
		}
	}
	c.Step(schedtest.Start.Add(time.Minute), kept)
	if j := c.table.jobs[rec.ID()]; j == nil || j.done != 1 || j.reruns != 0 {
		t.Errorf("the result is not taken: %+v", j)
	}
}
