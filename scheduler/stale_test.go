package scheduler

import (
	"testing"
	"time"

	"godwit/overlay"
	"godwit/scheduler/ledger"
	"godwit/task"
)

// TestStaleCopyIsAskedAbout: a job that only a replica knows is not run before
// its submitter had time to say that it is over.
func TestStaleCopyIsAskedAbout(t *testing.T) {
	for name, tt := range map[string]struct {
		answer *Got
		placed bool // after askFor
		soon   bool // at once
	}{
		"no answer": {nil, true, false},
		"over":      {&Got{Final: true}, false, false},
		"all held":  {&Got{Have: []Range{{From: 0, To: 2}}, Final: true}, false, false},
		"not over":  {&Got{}, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			_, self := identity(0)
			key, owner := identity(1)
			_, replica := identity(2)
			_, worker := identity(3)
			rec := testJob(t, key, 2, nil)
			c := NewCoordinator(self, Default(), 7)
			asked, placed, now := 0, 0, start
			step := func(ev Event) {
				for _, e := range c.Step(now, ev) {
					if s, ok := e.(Send); ok && s.Message.Progress != nil && s.To == owner {
						asked++
					} else if ok && s.Message.Place != nil {
						placed += len(s.Message.Place.Leases)
					}
				}
			}
			step(MemberSeen{Advert: overlay.Advert{Peer: worker, Memory: 1 << 40, Speed: 1}})
			step(Received{From: worker, Message: Message{Report: &Report{Slots: 2, Full: true}}})
			for n, k := range []Known{
				{Jobs: []JobDigest{{Job: rec.ID()}}},
				{Pairs: []Pair{{ledger.JobKey(rec.ID()), rec.Encode()}}},
				{Last: true},
			} {
				k.Epoch, k.Session, k.Seq = 7, 1, uint64(n+1)
				step(Received{From: replica, Message: Message{Known: &k}})
			}
			if asked != 1 || placed != 0 || c.jobs[rec.ID()] == nil {
				t.Fatalf("asked %d times, placed %d", asked, placed)
			}
			if why := c.Why(rec.ID(), 0); len(why) != 1 || why[0].Peers[0] != owner {
				t.Errorf("why says %+v", why)
			}
			if tt.answer != nil {
				tt.answer.Job = rec.ID()
				step(Received{From: owner, Message: Message{Got: tt.answer}})
			}
			if (placed > 0) != tt.soon {
				t.Errorf("%d were placed at once", placed)
			}
			now = now.Add(askFor + time.Second)
			step(Received{From: worker, Message: Message{Report: &Report{Slots: 2, Full: true}}})
			step(Wake{})
			if (placed > 0) != tt.placed {
				t.Errorf("%d were placed", placed)
			}
		})
	}
}

// TestHostileReplica: what a stranger tells is believed as far as it is signed.
func TestHostileReplica(t *testing.T) {
	_, self := identity(0)
	key, _ := identity(1)
	_, stranger := identity(2)
	rec, other := testJob(t, key, 2, nil), testJob(t, key, 3, nil)
	forged := other
	forged.Signature = make([]byte, len(other.Signature))
	name := task.TaskID{Job: rec.ID(), Index: 1}
	row := &ledger.Row{Results: []task.Result{{Task: name, Worker: stranger, Outcome: task.Completed, Signature: []byte("none")}}}
	c := NewCoordinator(self, Default(), 7)
	for n, pairs := range [][]Pair{
		nil,
		{{ledger.JobKey(rec.ID()), rec.Encode()}},
		{{ledger.JobKey(forged.ID()), forged.Encode()}, {ledger.JobKey(other.ID()), rec.Encode()}, {"", nil}, {"x/y/z", nil}},
		{{ledger.RowKey(name), row.Encode()}, {ledger.RowKey(task.TaskID{Job: rec.ID(), Index: 2}), (&ledger.Row{}).Encode()}},
		{{ledger.FactsKey(rec.ID()), (&ledger.Facts{Done: ledger.Set{{From: 0, To: 1 << 40}}}).Encode()}, {ledger.FactsKey(other.ID()), []byte{0xa0}}},
	} {
		effects := c.Step(start, Received{From: stranger, Message: Message{Known: &Known{Epoch: 7, Session: 1, Seq: uint64(n + 1), Pairs: pairs}}})
		for _, e := range effects {
			if p, ok := e.(Persist); ok && n != 1 {
				t.Errorf("what was told %d. made %s durable", n, p.Key)
			}
		}
	}
	if j := c.ledger.Jobs[rec.ID()]; len(c.ledger.Jobs) != 1 || j == nil || j.Verdict(1) != ledger.Open || j.Delivered(0) {
		t.Errorf("the ledger has %d jobs", len(c.ledger.Jobs))
	}
}
