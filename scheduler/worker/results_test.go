package worker

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"godwit/scheduler/message"
	"godwit/task"
)

// Of each task the newest result that completed is found, whatever came and was acknowledged before.
func TestCompleted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := results{out: new(effects)}
		for n := range rapid.IntRange(0, 20).Draw(t, "steps") {
			if rapid.Bool().Draw(t, "acknowledge") {
				gone := rapid.IntRange(0, 1).Draw(t, "odd or even")
				r.forget(time.Time{}, func(u *unacked) bool { return int(u.ending.Attempt.Seq)%2 == gone })
			} else {
				u := newUnacked(message.Ending{Attempt: message.Attempt{Epoch: 1, Seq: uint64(n)}}, time.Time{})
				u.ending.Result.Task.Index = rapid.Uint64Range(0, 2).Draw(t, "task")
				u.ending.Result.Outcome = rapid.SampledFrom([]task.Outcome{task.Completed, task.Trapped}).Draw(t, "outcome")
				r.add(u)
			}
			want := map[task.TaskID]*unacked{}
			for _, u := range r.all {
				if u.ending.Result.Outcome == task.Completed {
					want[u.ending.Result.Task] = u
				}
			}
			if len(want) != len(r.completed) {
				t.Fatalf("%d tasks have completed, %d are known", len(want), len(r.completed))
			}
			for id, u := range want {
				if r.completed[id] != u {
					t.Fatalf("of task %d another result is the newest", id.Index)
				}
			}
		}
	})
}
