package submitter

import (
	"testing"
	"time"

	"godwit/scheduler/message"
	"godwit/task"
)

// cancels lists the wishes to end a job that were said in the last step.
func (b *subBench) cancels() (out []*message.Cancel) {
	for _, e := range b.last {
		if s, ok := e.(message.Send); ok && s.Message.Cancel != nil {
			out = append(out, s.Message.Cancel)
		}
	}
	return out
}

// TestEndsSoon: a job of which no more is to begin is over when its leader says that nothing of it runs,
// and not before; each leader is told, also after a restart, and a cancel ends it at once.
func TestEndsSoon(t *testing.T) {
	b := newSubBench(t)
	id := b.offer(5, 0)
	b.bring(id, message.JobRunning, "a", 1)
	b.step(message.CancelJob{Job: id, Soon: true})
	b.pass(time.Second)
	if st, _ := b.s.Job(id); st.Final || st.Reason == "" {
		t.Fatalf("after the wish it is %+v", st)
	}
	b.restart()
	b.pass(time.Minute)
	b.step(message.LeaderChanged{Leader: b.self, Epoch: 2})
	b.pass(0)
	said := b.cancels()
	if len(said) == 0 || !said[0].Soon || !task.VerifyCancel(id, b.s.Key(), said[0].Signature) {
		t.Fatalf("the new leader hears %+v", said)
	}
	b.bring(id, message.JobDone, "")
	if st, _ := b.s.Job(id); st.Final {
		t.Fatalf("a leader ended it: %+v", st)
	}
	b.bring(id, message.JobCancelled, "a", 2)
	b.bring(id, message.JobCancelled, "")
	if st, _ := b.s.Job(id); !st.Final || st.State != message.JobCancelled || st.Held != 2 {
		t.Errorf("it ended as %+v", st)
	}
	other := b.offer(3, 1)
	b.step(message.CancelJob{Job: other, Soon: true})
	b.step(message.CancelJob{Job: other})
	if said := b.cancels(); len(said) == 0 || said[0].Soon {
		t.Errorf("a cancel after the wish says %+v", said)
	}
}
