package worker

import (
	"testing"
	"time"

	"godwit/scheduler/message"
	"godwit/task"
)

// TestWorkerSaysWhenItBegan: a worker tells, with an end, how long the lease lay there
// and how long ago it was begun; more of that when it says the same again; and nothing
// after a restart, of which its clock does not tell.
func TestWorkerSaysWhenItBegan(t *testing.T) {
	b := newBench(t)
	b.place(b.leases(5, 1, 2, 3))
	b.now = b.now.Add(time.Second)
	b.step(message.Prepared{ID: b.job, Job: b.spec})
	b.now = b.now.Add(300 * time.Millisecond)
	b.end(1, task.Completed)
	b.begun("told at once", message.Begun{Queued: time.Second, Ago: 300 * time.Millisecond})
	kept := map[string][]byte{}
	for _, e := range b.w.Keep() {
		if e, ok := e.(message.Persist); ok {
			kept[e.Key] = e.Value
		}
	}
	b.now = b.now.Add(time.Minute)
	b.step(message.Wake{})
	b.begun("said again", message.Begun{Queued: time.Second, Ago: time.Minute + 300*time.Millisecond})

	var e message.Ending
	for _, value := range kept {
		if err := task.Decode(value, &e); err != nil || e.Begun != nil {
			t.Errorf("on disk it began %+v (%v), want nothing", e.Begun, err)
		}
	}
	if len(kept) != 1 {
		t.Errorf("%d results on disk, want 1", len(kept))
	}
}

// begun checks what the last step told of the one attempt that ended.
func (b *bench) begun(what string, want message.Begun) {
	b.Helper()
	for _, e := range b.last {
		if e, ok := e.(message.Send); ok && e.Message.Report != nil && len(e.Message.Report.Ended) == 1 {
			if got := e.Message.Report.Ended[0].Begun; got == nil || *got != want {
				b.Errorf("%s: it began %+v, want %+v", what, got, want)
			}
			return
		}
	}
	b.Errorf("%s: no end was reported", what)
}
