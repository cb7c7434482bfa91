package scheduler

import (
	"testing"
	"time"

	"godwit/overlay"
	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// TestStaleCopyIsAskedAbout: a job that only a replica knows is not run before
// its submitter had time to say that it is over.
func TestStaleCopyIsAskedAbout(t *testing.T) {
	for name, tt := range map[string]struct {
		answer *message.Got
		placed bool // after askFor
		soon   bool // at once
	}{
		"no answer": {nil, true, false},
		"over":      {&message.Got{Final: true}, false, false},
		"all held":  {&message.Got{Have: []message.Range{{From: 0, To: 2}}, Final: true}, false, false},
		"not over":  {&message.Got{}, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			_, self := schedtest.Identity(0)
			key, owner := schedtest.Identity(1)
			_, replica := schedtest.Identity(2)
			_, worker := schedtest.Identity(3)
			rec := schedtest.Job(t, key, 2, nil)
			c := NewCoordinator(self, Default(), 7)
			asked, placed, now := 0, 0, schedtest.Start
			step := func(ev message.Event) {
				for _, e := range c.Step(now, ev) {
					if s, ok := e.(message.Send); ok && s.Message.Progress != nil && s.To == owner {
						asked++
					} else if ok && s.Message.Place != nil {
						placed += len(s.Message.Place.Leases)
					}
				}
			}
			step(message.MemberSeen{Advert: overlay.Advert{Peer: worker, Memory: 1 << 40, Speed: 1}})
			step(&message.Received{From: worker, Message: &message.Message{Report: &message.Report{Slots: 2, Full: true}}})
			for n, k := range []message.Known{
				{Jobs: []message.JobDigest{{Job: rec.ID()}}},
				{Pairs: []message.Pair{{Key: ledger.JobKey(rec.ID()), Value: rec.Encode()}}},
				{Last: true},
			} {
				k.Epoch, k.Session, k.Seq = 7, 1, uint64(n+1)
				step(&message.Received{From: replica, Message: &message.Message{Known: &k}})
			}
			if asked != 1 || placed != 0 || c.table.jobs[rec.ID()] == nil {
				t.Fatalf("asked %d times, placed %d", asked, placed)
			}
			if why := c.Why(rec.ID(), 0); len(why) != 1 || why[0].Peers[0] != owner {
				t.Errorf("why says %+v", why)
			}
			if tt.answer != nil {
				tt.answer.Job = rec.ID()
				step(&message.Received{From: owner, Message: &message.Message{Got: tt.answer}})
			}
			if (placed > 0) != tt.soon {
				t.Errorf("%d were placed at once", placed)
			}
			now = now.Add(askFor + time.Second)
			step(&message.Received{From: worker, Message: &message.Message{Report: &message.Report{Slots: 2, Full: true}}})
			step(message.Wake{})
			if (placed > 0) != tt.placed {
				t.Errorf("%d were placed", placed)
			}
		})
	}
}

// TestHostileReplica: what a stranger tells is believed as far as it is signed.
func TestHostileReplica(t *testing.T) {
	_, self := schedtest.Identity(0)
	key, _ := schedtest.Identity(1)
	_, stranger := schedtest.Identity(2)
	rec, other := schedtest.Job(t, key, 2, nil), schedtest.Job(t, key, 3, nil)
	forged := other
	forged.Signature = make([]byte, len(other.Signature))
	name := task.TaskID{Job: rec.ID(), Index: 1}
	row := &ledger.Row{Results: []task.Result{{Task: name, Worker: stranger, Outcome: task.Completed,
		Signature: []byte("none")}}}
	c := NewCoordinator(self, Default(), 7)
	for n, pairs := range [][]message.Pair{
		nil,
		{{Key: ledger.JobKey(rec.ID()), Value: rec.Encode()}},
		{{Key: ledger.JobKey(forged.ID()), Value: forged.Encode()}, {Key: ledger.JobKey(other.ID()), Value: rec.Encode()},
			{Key: "", Value: nil}, {Key: "x/y/z", Value: nil}},
		{{Key: ledger.RowKey(name), Value: schedtest.Encoded(t, row)},
			{Key: ledger.RowKey(task.TaskID{Job: rec.ID(), Index: 2}), Value: schedtest.Encoded(t, &ledger.Row{})}},
		{{Key: ledger.FactsKey(rec.ID()), Value: schedtest.Encoded(t,
			&ledger.Facts{Done: ledger.Set{{From: 0, To: 1 << 40}}})},
			{Key: ledger.FactsKey(other.ID()), Value: []byte{0xa0}}},
	} {
		effects := c.Step(schedtest.Start, &message.Received{From: stranger,
			Message: &message.Message{Known: &message.Known{Epoch: 7, Session: 1, Seq: uint64(n + 1), Pairs: pairs}}})
		for _, e := range effects {
			if p, ok := e.(message.Persist); ok && n != 1 {
				t.Errorf("what was told %d. made %s durable", n, p.Key)
			}
		}
	}
	if j := c.ledger.Jobs[rec.ID()]; len(c.ledger.Jobs) != 1 || j == nil || j.Verdict(1) != ledger.Open || j.Delivered(0) {
		t.Errorf("the ledger has %d jobs", len(c.ledger.Jobs))
	}
}
