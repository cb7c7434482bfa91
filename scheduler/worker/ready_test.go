package worker

import (
	"slices"
	"testing"

	"godwit/overlay"
	"godwit/scheduler/message"
	"godwit/task"
)

// readyBench is a bench whose slots are busy with tasks 1 and 2, with task 3 ready.
func readyBench(t *testing.T) *bench {
	t.Helper()
	b := newBench(t)
	b.w.cfg.Ahead = 1
	b.place(b.leases(5, 1, 2, 3))
	b.step(message.Prepared{ID: b.job, Job: b.spec})
	if !slices.ContainsFunc(b.last, func(e message.Effect) bool {
		r, ok := e.(message.Ready)
		return ok && r.Task == b.task(3) && r.Attempt == (message.Attempt{Epoch: 5, Seq: 3})
	}) {
		t.Fatalf("nothing is ready: %+v", b.last)
	}
	return b
}

// then ends task 1, in whose place task 3 has begun.
func (b *bench) then() {
	b.step(message.Ended{Task: b.task(1), Attempt: message.Attempt{Epoch: 5, Seq: 1},
		Result: task.Result{Task: b.task(1), Outcome: task.Completed},
		Then:   &message.AttemptName{Task: b.task(3), Attempt: message.Attempt{Epoch: 5, Seq: 3}}})
}

// unreadied reports whether the last step asked whether task 3 has begun.
func (b *bench) unreadied() bool {
	return slices.Contains(b.last, message.Effect(message.Unready{Task: b.task(3),
		Attempt: message.Attempt{Epoch: 5, Seq: 3}}))
}

// What a leader or the owner takes back that is ready is given back once it is known that it has not begun. If it has,
// it is treated as one that runs.
func TestReadyTakenBack(t *testing.T) {
	drop := func(why string) func(b *bench) {
		return func(b *bench) {
			b.ack(&message.Ack{Epoch: 5, Drop: []message.AttemptName{{Task: b.task(3),
				Attempt: message.Attempt{Epoch: 5, Seq: 3}, Reason: why}}})
		}
	}
	for _, tt := range []struct {
		name    string
		do      func(b *bench)
		refused bool // its leader hears that it did not begin
		stops   []bool
		hands   bool
	}{
		{"recalled", drop(message.DropRecall), true, nil, false},
		{"cancelled", drop(message.DropCancelled), false, []bool{false}, false},
		{"moved", drop(message.DropMoved), true, []bool{true}, false},
		{"to be handed over", func(b *bench) {
			b.ack(&message.Ack{Epoch: 5, Moves: []message.MoveOrder{{Task: b.task(3),
				Attempt: message.Attempt{Epoch: 5, Seq: 3}, To: "other", As: message.Attempt{Epoch: 5, Seq: 9}}}})
		}, true, nil, true},
		{"the owner is back", func(b *bench) {
			b.step(message.OwnerState{State: overlay.UserPresent})
		}, true, nil, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := readyBench(t)
			tt.do(b)
			if !b.unreadied() || len(b.stops()) > 0 || b.w.Leases() != 3 {
				t.Fatalf("it does %+v", b.last)
			}
			b.step(message.NotBegun{Task: b.task(3), Attempt: message.Attempt{Epoch: 5, Seq: 3}})
			if b.w.Leases() != 2 {
				t.Errorf("it holds %d leases", b.w.Leases())
			}
			if tt.refused {
				if r := b.report(); len(r.Refused) != 1 || r.Refused[0].Task != b.task(3) {
					t.Errorf("it refuses %+v", r.Refused)
				}
			}

			b = readyBench(t)
			tt.do(b)
			b.then()
			var stops []bool
			for _, s := range b.stops() {
				stops = append(stops, s.Save)
			}
			hands := slices.ContainsFunc(b.last, func(e message.Effect) bool { _, ok := e.(message.HandOver); return ok })
			if !slices.Equal(stops, tt.stops) || hands != tt.hands {
				t.Errorf("begun meanwhile, it does %+v", b.last)
			}
			if running, _, _ := b.w.Load(); running != 2 {
				t.Errorf("%d run", running)
			}
			if r := b.report(); len(r.Refused) > 0 {
				t.Errorf("of what runs it is said that it is refused: %+v", r.Refused)
			}
		})
	}
}
