package submitter

import (
	"testing"
	"time"

	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// asks lists whom else than the leader the submitter asked for a job in the last step.
func (b *auditBench) asks() (out []task.PeerID) {
	for _, e := range b.last {
		if s, ok := e.(message.Send); ok && s.Message.Got != nil && s.To != b.self {
			out = append(out, s.To)
		}
	}
	return out
}

// untilOthersAsked lets time pass, in which the leader says that all runs, until another is asked.
func (b *auditBench) untilOthersAsked(most time.Duration) []task.PeerID {
	for end := b.now.Add(most); b.now.Before(end); {
		at, ok := b.s.NextWake()
		if !ok {
			break
		}
		b.now = at
		b.do(message.Wake{})
		if out := b.asks(); len(out) > 0 {
			return out
		}
		b.do(message.Received{From: b.self, Message: message.Message{Progress: &message.Progress{Job: b.id,
			Summary: message.JobSummary{State: message.JobRunning, Total: 3, Running: 3}}}})
	}
	return nil
}

// brings has a peer bring results.
func (b *auditBench) brings(from int, state string, results ...task.Result) {
	_, peer := schedtest.Identity(from)
	p := &message.Progress{Job: b.id, Summary: message.JobSummary{State: state}}
	for _, r := range results {
		p.Tasks = append(p.Tasks, message.TaskSummary{Index: r.Task.Index, Results: []task.Result{r}})
	}
	b.do(message.Received{From: peer, Message: message.Message{Progress: p}})
}

// A leader that brings nothing, and says that all runs: others that coordinate are asked, one after the other, and
// what they bring counts if workers signed it; nobody else's word does, nor what they say of the job.
func TestLeaderHoldsBack(t *testing.T) {
	const second, third, maker, stranger = 3, 4, 5, 6
	b := newAuditBench(t, 3, "off")
	if b.asks() != nil || b.untilOthersAsked(withheldAfter-time.Minute) != nil {
		t.Fatal("others are asked at once")
	}
	b.s.cfg.Coordinators = &crew{group: []int{second, third}}
	b.brings(second, message.JobRunning, b.ran(maker, 0, truth))
	if b.s.jobs[b.id].have.Count() > 0 {
		t.Error("who was not asked brings results")
	}
	first := b.untilOthersAsked(3 * withheldAfter)
	next := b.untilOthersAsked(3 * withheldAfter)
	if len(first) != 1 || len(next) != 1 || first[0] == next[0] {
		t.Fatalf("asked are %v, then %v", first, next)
	}
	asked := map[bool]int{true: second, false: third}[next[0] == peers([]int{second})[0]]
	forged := b.ran(maker, 1, "wrong")
	forged.Signature = append([]byte{^forged.Signature[0]}, forged.Signature[1:]...)
	b.brings(stranger, message.JobRunning, b.ran(maker, 0, truth))
	b.brings(second+third-asked, message.JobRunning, b.ran(maker, 0, truth))
	if n := b.s.jobs[b.id].have.Count(); n > 0 {
		t.Errorf("%d results of others than who was asked last", n)
	}
	b.brings(asked, message.JobCancelled, b.ran(maker, 0, truth), forged)
	st, _ := b.s.Job(b.id)
	if n := b.s.jobs[b.id].have.Count(); n != 1 || st.Final || b.s.jobs[b.id].state.Summary.State == message.JobCancelled {
		t.Fatalf("%d are held; the job is %+v", n, b.s.jobs[b.id].state.Summary)
	}
	if got := b.asks(); len(got) != 1 || got[0] != peers([]int{asked})[0] {
		t.Errorf("asked for more are %v", got)
	}
	b.brings(asked, message.JobRunning, b.ran(maker, 1, truth), b.ran(maker, 2, truth))
	sum := b.s.jobs[b.id].state.Summary
	if st, _ := b.s.Job(b.id); !st.Final || sum.State != message.JobDone || sum.Done != 3 {
		t.Errorf("the job is %+v", b.s.jobs[b.id].state.Summary)
	}
}

// An honest leader costs nobody a question: whatever it brings begins the wait anew.
func TestHonestLeaderIsNotDoubted(t *testing.T) {
	b := newAuditBench(t, 200, "off")
	b.s.cfg.Coordinators = &crew{group: []int{3, 4}}
	for i := range uint64(100) {
		if got := b.untilOthersAsked(withheldAfter / 2); got != nil {
			t.Fatalf("after task %d %v are asked", i, got)
		}
		b.deliver(i, nil, b.ran(5, i, truth))
	}
}
