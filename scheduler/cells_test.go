package scheduler

import (
	"testing"
	"time"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// TestDividedRunsAreTold: a leader whose job's submitter went into the other half says what runs of it, again and
// again until that one has said what it wants here, and then no more.
func TestDividedRunsAreTold(t *testing.T) {
	c, id := curious(t, 80, 60)
	_, owner := schedtest.Identity(1)
	now := c.now
	told := func(ev message.Event) (runs ledger.Set, said bool) {
		for _, e := range c.Step(now, ev) {
			if s, ok := e.(message.Send); ok && s.To == owner && s.Message.Progress != nil {
				runs, said = ledger.Set(s.Message.Progress.Runs), true
			}
		}
		return runs, said
	}
	if runs, _ := told(message.Wake{}); len(runs) > 0 {
		t.Errorf("before its cell divided it says that it runs %v", runs)
	}
	live := uint64(len(c.table.jobs[id].live))
	if live == 0 {
		t.Fatal("nothing runs")
	}
	Divided(c, func(submitter task.PeerID) bool { return submitter == owner })
	if runs, said := told(message.Wake{}); !said || runs.Count() != live {
		t.Errorf("it says %v: that it runs %v, of %d", said, runs, live)
	}
	for range 3 { // who had not heard that anybody leads here hears it then
		now = now.Add(dividedEvery)
		if _, said := told(message.Wake{}); !said {
			t.Errorf("it does not say again what runs")
		}
	}
	rec := c.table.jobs[id].ledger.Record
	if runs, _ := told(&message.Received{From: owner, Message: &message.Message{Submit: &message.Submit{Record: rec,
		Accepted: true}}}); len(runs) > 0 {
		t.Errorf("its submitter has spoken, and it says that it runs %v", runs)
	}
	if now = now.Add(dividedEvery + time.Second); c.table.jobs[id].divided {
		t.Error("the job is still one of another cell")
	}
	if runs, _ := told(message.Wake{}); len(runs) > 0 {
		t.Errorf("later it says that it runs %v", runs)
	}
}
