package worker

import (
	"testing"
	"time"

	"godwit/scheduler/message"
)

// What a lease says reaches whoever runs the task.
func TestWorkerTellsTheWorkLeft(t *testing.T) {
	b := newBench(t)
	p := b.leases(5, 1)
	p.Leases[0].Left = time.Hour
	away := b.awaiting(2).Leases[0]
	away.Left = 20 * time.Minute
	p.Leases = append(p.Leases, away)
	b.place(p)
	b.step(message.Prepared{ID: b.job, Job: b.spec})
	if e, n := lastOf[message.Start](b); n != 1 || e.Left != time.Hour {
		t.Errorf("started with %v left", e.Left)
	}
	if e, n := lastOf[message.Expect](b); n != 1 || e.Left != 20*time.Minute {
		t.Errorf("expected with %v left", e.Left)
	}
	instead := b.leases(5, 2) // nobody brings it
	instead.Leases[0].Attempt, instead.Leases[0].Left = message.Attempt{Epoch: 5, Seq: 200}, 50*time.Minute
	b.place(instead)
	if e, n := lastOf[message.Start](b); n != 1 || e.Left != 50*time.Minute {
		t.Errorf("begun in its place with %v left", e.Left)
	}
}
