package scheduler

import (
	"testing"
	"time"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// TestRunOnceMore: a task that its submitter has run once more goes to nobody who ran it, or to whom
// he says alone, as an ordinary lease from its beginning; every other stays as it is.
func TestRunOnceMore(t *testing.T) {
	p := newOpenPool(t, Rules{}, 3, 2)
	id := p.submit(honestOne, 30, time.Second, nil)
	p.run(time.Minute)
	j := p.c.table.jobs[id]
	var all, kept ledger.Set
	all.AddRange(ledger.Range{To: 30})
	kept.AddRange(ledger.Range{From: 10, To: 30})
	_, who := schedtest.Identity(honestOne)
	p.step(message.Received{From: who, Message: message.Message{Got: &message.Got{Job: id, Have: all}}})
	made := map[uint64]task.PeerID{}
	var again []message.Again
	for i := range uint64(10) {
		made[i] = j.ledger.Rows[i].Agreed()[0].Worker
		j.ledger.Rows[i].Best = &message.Checkpoint{CID: task.RawCID([]byte("left")), Fuel: 1}
		a := message.Again{Index: i, Not: []task.PeerID{made[i]}}
		for _, m := range p.members {
			if i >= 5 && m.id != made[i] {
				a = message.Again{Index: i, Only: []task.PeerID{m.id}}
			}
		}
		again = append(again, a)
	}
	again = append(again, message.Again{Index: 30}, message.Again{Index: 1 << 60}) // no such tasks
	submit := &message.Submit{Record: j.ledger.Record, Have: kept, Accepted: true, Again: again}
	p.step(message.Received{From: who, Message: message.Message{Submit: submit}})
	for _, m := range p.members {
		for _, l := range m.holds {
			i := l.lease.Task.Index
			if a := again[i]; l.lease.From != nil || i >= 10 || m.id == made[i] || len(a.Only) > 0 && m.id != a.Only[0] {
				t.Errorf("%s has %+v, which %s made before", m.id, l.lease, made[i])
			}
		}
	}
	had := p.placed[id]
	p.run(2 * time.Minute)
	if n := p.placed[id] - had; j.state != jobOver || n > 10 {
		t.Fatalf("the job is over: %v, with %d leases more", j.state == jobOver, n)
	}
	for i := range uint64(10) {
		row, a := j.ledger.Rows[i], again[i]
		if by := row.Agreed()[0].Worker; by == made[i] || len(a.Only) > 0 && by != a.Only[0] {
			t.Errorf("task %d is of %s, which made it before: %+v", i, by, a)
		}
	}
	// Now nobody is left who may have the first of them: no result of it comes, and its
	// submitter takes that back.
	submit.Again = nil
	for _, m := range p.members {
		again[0].Only, again[0].Not = nil, append(again[0].Not, m.id)
	}
	submit.Have, submit.Again = all.Minus(ledger.Set{{From: 0, To: 1}}), again[:1]
	p.step(message.Received{From: who, Message: message.Message{Submit: submit}})
	if p.run(time.Minute); j.state != jobOpen || len(j.live) > 0 {
		t.Errorf("the job is over: %v, %d of its tasks run", j.state == jobOver, len(j.live))
	}
	again[0].Only, again[0].Not = []task.PeerID{"elsewhere"}, nil
	p.step(message.Received{From: who, Message: message.Message{Submit: submit}})
	if why := p.c.Why(id, 0); len(why) == 0 || len(why[0].Peers) != len(p.members) {
		t.Errorf("of a task that none here may have it is said %+v", why)
	}
	p.step(message.Received{From: who, Message: message.Message{Got: &message.Got{Job: id, Have: all}}})
	if j.state != jobOver {
		t.Error("the job is not over, of which its submitter has all")
	}
}
