package submitter

import (
	"maps"
	"slices"
	"testing"
	"time"

	"godwit/scheduler/message"
	"godwit/task"
)

// over returns a submitter with a job of one task that it holds.
func over(t *testing.T) (*subBench, task.JobID) {
	b := newSubBench(t)
	id := b.offer(1, 0)
	b.bring(id, message.JobRunning, "a", 1, 0)
	b.answer(id, 0, "")
	if g := b.gots(id); len(g) != 1 || !g[0].Final {
		t.Fatalf("got %+v, want that it is over", g)
	}
	return b, id
}

// finals counts how often the leader is told within a time that the job is over.
func (b *subBench) finals(id task.JobID, d time.Duration) (n int) {
	end := b.now.Add(d)
	for {
		at, ok := b.s.NextWake()
		if !ok || at.After(end) {
			b.now = end
			return n
		}
		b.now = at
		b.step(message.Wake{})
		n += len(b.gots(id))
	}
}

func TestSubmitterSaysGoodbyeUntilHeard(t *testing.T) {
	b, id := over(t)
	if n := b.finals(id, time.Hour); n != maxGoodbyes-1 {
		t.Errorf("said %d times more that it is over, want %d", n, maxGoodbyes-1)
	}
	b, id = over(t)
	b.bring(id, message.JobDone, "")
	if g := b.gots(id); len(g) > 0 {
		t.Errorf("the leader's answer was answered: %+v", g)
	}
	if n := b.finals(id, time.Hour); n != 0 {
		t.Errorf("said %d times more what the leader knew", n)
	}
}

// TestSubmitterTellsStaleLeaders: a leader that speaks of a job that is over
// learns it, whatever it says, and two that know both fall silent.
func TestSubmitterTellsStaleLeaders(t *testing.T) {
	tests := []struct {
		name   string
		say    func(id task.JobID) message.Message
		states int // answers to the second time, a moment later
	}{
		{"asks", func(id task.JobID) message.Message {
			return message.Message{Progress: &message.Progress{Job: id, Summary: message.JobSummary{State: message.JobRunning}}}
		}, 1},
		{"brings", func(id task.JobID) message.Message {
			return message.Message{Progress: &message.Progress{Job: id, Tasks: []message.TaskSummary{summaryOf(id, 0, "b")}}}
		}, 1},
		{"accepts", func(id task.JobID) message.Message { return message.Message{Accepted: &message.Accepted{Job: id}} }, 1},
		{"has ended it", func(id task.JobID) message.Message {
			return message.Message{Progress: &message.Progress{Job: id, Summary: message.JobSummary{State: message.JobDone}}}
		}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b, id := over(t)
			b.bring(id, message.JobDone, "") // the first leader knows
			for restarts := range 2 {
				b.step(message.LeaderChanged{})
				b.step(message.LeaderChanged{Leader: b.self, Epoch: uint64(2 + restarts)})
				if restarts > 0 {
					b.restart()
				}
				want := 1
				for again := range 3 {
					b.say(tt.say(id))
					if g := b.gots(id); len(g) != want || want > 0 && (!g[0].Final || len(g[0].Have) != 1) {
						t.Fatalf("said %+v the %d. time, want %d", g, again, want)
					}
					b.say(tt.say(id)) // at once
					if len(b.gots(id)) > 0 {
						t.Error("a leader that repeats itself is answered each time")
					}
					b.pass(b.timing.RetryMin)
					want = tt.states
				}
			}
			if b.writes[ResultKey(id, 0)] != 1 {
				t.Error("a result was held twice")
			}
		})
	}
}

// TestSubmitterRemembersForgotten: a job that its owner dropped is not run
// again for a leader with an old copy.
func TestSubmitterRemembersForgotten(t *testing.T) {
	b, id := over(t)
	b.bring(id, message.JobDone, "")
	b.step(message.ForgetJob{Job: id})
	if _, ok := b.s.Job(id); ok || len(b.s.Jobs()) > 0 || len(b.s.Held(id)) > 0 {
		t.Error("the job is still there")
	}
	for range 2 {
		b.bring(id, message.JobRunning, "")
		if g := b.gots(id); len(g) != 1 || !g[0].Final {
			t.Errorf("said %+v, want that it is over", g)
		}
		b.restart()
	}
	b.pass(rememberForgotten + time.Hour)
	if len(b.disk) > 0 {
		t.Errorf("left on disk: %v", slices.Sorted(maps.Keys(b.disk)))
	}
}

func TestSubmitterForgetsInPortions(t *testing.T) {
	b := newSubBench(t)
	const tasks = 5000
	id := b.offer(tasks, 0)
	b.step(message.ForgetJob{Job: id})
	if _, ok := b.s.Job(id); !ok {
		t.Fatal("a job that is not over was forgotten")
	}
	var all []uint64
	for i := range uint64(tasks) {
		all = append(all, i)
	}
	for st, _ := b.s.Job(id); !st.Final; st, _ = b.s.Job(id) {
		b.bring(id, message.JobRunning, "a", all...)
		for key := range b.fetches {
			delete(b.fetches, key)
			b.step(message.Fetched{Key: key})
		}
	}
	b.bring(id, message.JobDone, "")
	b.step(message.ForgetJob{Job: id})
	for n := 0; len(b.onDisk(id)) > 0; n++ {
		if len(b.last) > forgetPortion+4 {
			t.Fatalf("%d effects in one step", len(b.last))
		}
		if n == 3 {
			b.restart() // it goes on
		}
		if n > 2*tasks/forgetPortion {
			t.Fatal("it does not end")
		}
		b.pass(paceEvery)
	}
}

// TestSubmitterUnknownJob: a job that was never here is not called over; the
// results of a submitter that lost its disk are not thrown away.
func TestSubmitterUnknownJob(t *testing.T) {
	b := newSubBench(t)
	b.bring("unknown", message.JobRunning, "a", 1)
	if len(b.last) > 0 {
		t.Errorf("got %+v", b.last)
	}
}
