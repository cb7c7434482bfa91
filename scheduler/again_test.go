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
	p.step(&message.Received{From: who, Message: &message.Message{Got: &message.Got{Job: id, Have: all}}})
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
	p.step(&message.Received{From: who, Message: &message.Message{Submit: submit}})
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
	p.step(&message.Received{From: who, Message: &message.Message{Submit: submit}})
	if p.run(time.Minute); j.state != jobOpen || len(j.live) > 0 {
		t.Errorf("the job is over: %v, %d of its tasks run", j.state == jobOver, len(j.live))
	}
	again[0].Only, again[0].Not = []task.PeerID{"elsewhere"}, nil
	p.step(&message.Received{From: who, Message: &message.Message{Submit: submit}})
	if why := p.c.Why(id, 0); len(why) == 0 || len(why[0].Peers) != len(p.members) {
		t.Errorf("of a task that none here may have it is said %+v", why)
	}
	p.step(&message.Received{From: who, Message: &message.Message{Got: &message.Got{Job: id, Have: all}}})
	if j.state != jobOver {
		t.Error("the job is not over, of which its submitter has all")
	}
}

// TestRunOnceMoreOfAFailure: failures of workers that have no say in a task count for nothing when it
// runs once more; those of others do.
func TestRunOnceMoreOfAFailure(t *testing.T) {
	p := newOpenPool(t, Rules{}, 3, 2)
	id := p.submit(honestOne, 3, time.Second, nil)
	p.run(time.Minute)
	j := p.c.table.jobs[id]
	_, who := schedtest.Identity(honestOne)
	all := ledger.Set{{To: 3}}
	p.step(&message.Received{From: who, Message: &message.Message{Got: &message.Got{Job: id, Have: all}}})
	fails := func(m *poolMember, i uint64) *ledger.Row {
		row := &ledger.Row{}
		for k := range uint64(j.ledger.Rule().Retries + 1) {
			r := task.Result{Task: task.TaskID{Job: id, Index: i}, Outcome: task.ExitFailure, ExitCode: 1}
			if err := r.Sign(m.key); err != nil {
				t.Fatal(err)
			}
			r.Signature[0] ^= byte(k) // of other runs
			row.AddResult(ledger.Attempt{Epoch: 1, Seq: 100 + k}, r)
		}
		return row
	}
	barred, other := p.members[0], p.members[1]
	j.ledger.Rows[0], j.ledger.Rows[1] = fails(barred, 0), fails(other, 1)
	p.step(&message.Received{From: who, Message: &message.Message{Submit: &message.Submit{Record: j.ledger.Record,
		Have: ledger.Set{{From: 2, To: 3}}, Delivery: 1, Accepted: true,
		Again: []message.Again{{Index: 0, Not: []task.PeerID{barred.id}}, {Index: 1, Not: []task.PeerID{barred.id}}}}}})
	p.run(time.Minute)
	if row := j.ledger.Rows[0]; row.Verdict(j.ledger.Rule()) != ledger.Done || row.Agreed()[0].Worker == barred.id {
		t.Errorf("it is %v: %+v", row.Verdict(j.ledger.Rule()), row)
	}
	if row := j.ledger.Rows[1]; row.Verdict(j.ledger.Rule()) != ledger.Failed {
		t.Errorf("what another says counts for nothing: %+v", row)
	}
	if j.failed != 1 || j.done != 2 {
		t.Errorf("%d failed, %d are done", j.failed, j.done)
	}
}

// A worker that its submitter names has a task once more that it ran before, where what it came to counts no
// more: else a task would wait for ever for who alone may have it.
func TestRunOnceMoreByWhoRanIt(t *testing.T) {
	p := newOpenPool(t, Rules{}, 3, 2)
	id := p.submit(honestOne, 1, time.Second, nil)
	p.run(time.Minute)
	j := p.c.table.jobs[id]
	_, who := schedtest.Identity(honestOne)
	p.step(&message.Received{From: who, Message: &message.Message{Got: &message.Got{Job: id, Have: ledger.Set{{To: 1}}}}})
	had := j.ledger.Rows[0].Agreed()[0].Worker
	var other task.PeerID
	for _, m := range p.members {
		if m.id != had {
			other = m.id
		}
	}
	again := func(a message.Again) {
		before := p.placed[id]
		p.step(&message.Received{From: who, Message: &message.Message{Submit: &message.Submit{Record: j.ledger.Record,
			Accepted: true, Again: []message.Again{a}}}})
		if p.run(time.Minute); p.placed[id] == before {
			t.Fatalf("nobody gets it: %+v; why %+v", a, p.c.Why(id, 0))
		}
	}
	again(message.Again{Not: []task.PeerID{had}, Only: []task.PeerID{other}})
	again(message.Again{Not: []task.PeerID{other}, Only: []task.PeerID{had}})
	// What came of it is void here: it took as long, to the nanosecond.
	if log := j.ledger.Rows[0].Log; log[len(log)-1].Worker != had {
		t.Errorf("it is of %+v", log[len(log)-1])
	}
}
