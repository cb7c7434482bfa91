package worker

import (
	"testing"
	"time"

	"godwit/scheduler/message"
	"godwit/task"
)

// told counts the results that the last step told the leader.
func (b *bench) told() (n int) {
	for _, e := range b.last {
		if s, ok := e.(message.Send); ok && s.Message.Report != nil {
			n += len(s.Message.Report.Ended)
		}
	}
	return n
}

// tasks returns so many indices from 1.
func tasks(n int) (out []uint64) {
	for i := range n {
		out = append(out, uint64(i+1))
	}
	return out
}

// TestWorkerTellsTogether: results that come one after the other are told together while
// more tasks wait than there are results to tell, and within TellWithin.
func TestWorkerTellsTogether(t *testing.T) {
	b := newBench(t)
	b.place(b.leases(5, tasks(20)...))
	b.step(message.Prepared{ID: b.job, Job: b.spec})
	var told []int
	next := uint64(1)
	for range 20 {
		b.now = b.now.Add(5 * time.Millisecond)
		b.end(next, task.Completed)
		next++
		told = append(told, b.told())
	}
	// The first has none before it. Then 40 ms: the one that comes as they end is told
	// with them. At last there are no more tasks than results.
	sum, messages := 0, 0
	for _, n := range told {
		sum += n
		messages += min(n, 1)
	}
	if told[0] != 1 || told[9] != 9 || sum != 20 || messages > 8 || told[18] != 1 || told[19] != 1 {
		t.Errorf("told %v", told)
	}
}

// TestWorkerTellsInTime: what is held back is told when the time has come, though nothing
// happens.
func TestWorkerTellsInTime(t *testing.T) {
	b := newBench(t)
	b.place(b.leases(5, tasks(20)...))
	b.step(message.Prepared{ID: b.job, Job: b.spec})
	b.end(1, task.Completed)
	b.now = b.now.Add(time.Millisecond)
	if b.end(2, task.Completed); b.told() != 0 {
		t.Fatalf("told %d at once", b.told())
	}
	at, ok := b.w.NextWake()
	if want := b.now.Add(Default().TellWithin); !ok || at.After(want) {
		t.Fatalf("it wakes at %v (%v), want %v", at, ok, want)
	}
	b.now = at
	if b.step(message.Wake{}); b.told() != 1 {
		t.Errorf("told %d when it was time", b.told())
	}
}

// TestWorkerTellsAtOnce: what somebody may wait for is not held back.
func TestWorkerTellsAtOnce(t *testing.T) {
	for name, tt := range map[string]struct {
		queued int
		every  time.Duration
		how    task.Outcome
	}{
		"nothing waits":         {1, time.Millisecond, task.Completed},
		"long tasks":            {20, 50 * time.Millisecond, task.Completed},
		"it did not complete":   {20, time.Millisecond, task.ExitFailure},
		"it was not of its own": {20, time.Millisecond, task.Interrupted},
	} {
		b := newBench(t)
		b.place(b.leases(5, tasks(tt.queued+2)...))
		b.step(message.Prepared{ID: b.job, Job: b.spec})
		b.now = b.now.Add(time.Second)
		b.end(1, task.Completed)
		b.now = b.now.Add(tt.every)
		if b.end(2, tt.how); b.told() != 1 {
			t.Errorf("%s: told %d", name, b.told())
		}
	}
}
