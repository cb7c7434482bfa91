package scheduler

import (
	"strings"
	"testing"
	"time"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// TestRefusedWorker: a worker of which the submitter found a result wrong loses its leases of the
// job, which others get, and has no more of it; other submitters' jobs it has as before.
func TestRefusedWorker(t *testing.T) {
	p := newOpenPool(t, Rules{}, 2, 2)
	liar := p.members[0]
	id := p.submit(honestOne, 30, 10*time.Second, nil)
	p.run(5 * time.Second)
	if p.got[liar.id] == 0 {
		t.Fatal("nothing was placed there")
	}
	refuse := func(from int) {
		_, who := schedtest.Identity(from)
		p.step(&message.Received{From: who, Message: &message.Message{Got: &message.Got{Job: id,
			Refused: []task.PeerID{liar.id}}}})
	}
	refuse(greedyOne)
	if len(liar.holds) == 0 {
		t.Fatal("another submitter's word took the job away")
	}
	refuse(honestOne)
	if n := len(liar.holds); n > 0 {
		t.Fatalf("it holds %d tasks of the job still", n)
	}
	had := p.got[liar.id]
	p.run(time.Minute)
	if p.got[liar.id] != had {
		t.Errorf("it was given %d more", p.got[liar.id]-had)
	}
	j := p.c.table.jobs[id]
	if why := p.c.members.hosts[liar.id].paused[j].why; !strings.Contains(why, "takes no results of this worker") {
		t.Errorf("the reason is %q", why)
	}
	p.run(3 * time.Minute)
	if p.done[id] != 30 {
		t.Errorf("%d of 30 tasks are done", p.done[id])
	}
	other := p.submit(greedyOne, 10, 10*time.Second, nil)
	if p.run(time.Minute); p.got[liar.id] == had || p.done[other] != 10 {
		t.Errorf("of another's job it was given %d, and %d are done", p.got[liar.id]-had, p.done[other])
	}
}

// TestRefusedResults: what a refused worker made is void where its submitter does not hold it, or
// holds it no more, and others run it, though the job was over.
func TestRefusedResults(t *testing.T) {
	p := newOpenPool(t, Rules{}, 2, 2)
	liar := p.members[0]
	id := p.submit(honestOne, 30, time.Second, nil)
	p.run(time.Minute)
	j := p.c.table.jobs[id]
	if p.done[id] != 30 || j.state != jobOver {
		t.Fatalf("%d of 30 tasks are done, %v", p.done[id], j.state)
	}
	made := map[uint64]bool{}
	for i, row := range j.ledger.Rows {
		made[i] = row.Agreed()[0].Worker == liar.id
	}
	var held, kept ledger.Set
	for i := range uint64(30) {
		if i < 20 {
			held.Add(i)
		}
		if i < 20 && !made[i] {
			kept.Add(i)
		}
	}
	_, who := schedtest.Identity(honestOne)
	p.step(&message.Received{From: who, Message: &message.Message{Got: &message.Got{Job: id, Have: held}}})
	if j.state != jobOver {
		t.Fatal("the job goes on before anything was found wrong")
	}
	p.step(&message.Received{From: who, Message: &message.Message{Submit: &message.Submit{Record: j.ledger.Record,
		Have: kept, Accepted: true, Refused: []task.PeerID{liar.id}}}})
	if j.state != jobOpen {
		t.Fatal("the job is not open again")
	}
	had := p.got[liar.id]
	p.run(time.Minute)
	if j.state != jobOver || p.got[liar.id] != had {
		t.Fatalf("the job is over: %v; the refused worker had %d more", j.state == jobOver, p.got[liar.id]-had)
	}
	for i := range uint64(30) {
		row := j.ledger.Rows[i]
		switch {
		case row == nil && !kept.Contains(i):
			t.Errorf("nothing is known of task %d", i)
		case row != nil && made[i] && row.Agreed()[0].Worker != p.members[1].id:
			t.Errorf("task %d is of %s", i, row.Agreed()[0].Worker)
		}
	}
}

// TestRejectedResultsRunAgain has a job's submitter reject three delivered results: exactly these tasks run again. Another
// submitter cannot reject them.
func TestRejectedResultsRunAgain(t *testing.T) {
	p := newOpenPool(t, Rules{}, 2, 2)
	id := p.submit(honestOne, 30, time.Second, nil)
	p.run(time.Minute)
	j := p.c.table.jobs[id]
	if p.done[id] != 30 || j.state != jobOver {
		t.Fatalf("%d of 30 tasks are done, %v", p.done[id], j.state)
	}
	held := ledger.Set{{From: 0, To: 20}} // of the other ten, some are rejected
	rejects := func(from int) {
		_, who := schedtest.Identity(from)
		p.step(&message.Received{From: who, Message: &message.Message{Got: &message.Got{Job: id, Have: held,
			Rejected: []message.Range{{From: 18, To: 20}, {From: 25, To: 28}, {From: 29, To: 1000}}}}})
	}
	rejects(greedyOne)
	if j.state != jobOver {
		t.Fatal("another submitter had tasks run again")
	}
	rejects(honestOne)
	for i := range uint64(30) {
		want := ledger.Done
		if i >= 25 && i < 28 || i == 29 {
			want = ledger.Open
		}
		if got := j.ledger.Verdict(i); got != want {
			t.Errorf("task %d is %v, want %v", i, got, want)
		}
	}
	if p.run(time.Minute); j.state != jobOver || j.done != 30 {
		t.Errorf("after the rejection %d of 30 tasks are done", j.done)
	}
}

// disputed returns a pool of three members whose results of a task with two replicas differ, so that the task failed,
// and its job. More members join afterwards.
func disputed(t *testing.T, more int) (*openPool, *job) {
	p := newOpenPool(t, Rules{}, 3, 1)
	for k, m := range p.members {
		m.says = []string{"x", "y", "z"}[k]
	}
	id := p.submit(honestOne, 1, time.Second, func(j *task.Job) { j.Replicas, j.Retries = 2, 0 })
	p.run(10 * time.Second)
	j := p.c.table.jobs[id]
	if v := j.ledger.Verdict(0); v != ledger.Failed || j.state != jobOver {
		t.Fatalf("three runs differ, and the task is %v", v)
	}
	for range more {
		p.join(1, 1, 1).says = "y"
	}
	return p, j
}

// TestRejectedDisagreementRunsAgain has a submitter reject that a task failed whose runs do not agree. The task runs
// again, in a pool that has no other workers, and is done when they agree.
func TestRejectedDisagreementRunsAgain(t *testing.T) {
	p, j := disputed(t, 0)
	for _, m := range p.members {
		m.says = "y"
	}
	_, who := schedtest.Identity(honestOne)
	p.step(&message.Received{From: who, Message: &message.Message{Got: &message.Got{Job: j.id,
		Rejected: []message.Range{{From: 0, To: 1}}}}})
	if v := j.ledger.Verdict(0); v != ledger.Open || j.state != jobOpen || j.failed != 0 {
		t.Fatalf("after the rejection the task is %v, %d failed", v, j.failed)
	}
	p.run(10 * time.Second)
	if v := j.ledger.Verdict(0); v != ledger.Done || j.state != jobOver || j.done != 1 {
		t.Errorf("its workers agree now, and the task is %v", v)
	}
}

// TestRefusedWorkerFailsNoTask has a submitter refuse one of three workers whose results differ. Only the refused
// worker's run is void, nothing that it reports later counts, and a fourth worker decides the task.
func TestRefusedWorkerFailsNoTask(t *testing.T) {
	p, j := disputed(t, 1)
	_, who := schedtest.Identity(honestOne)
	liar := p.members[0]
	p.step(&message.Received{From: who, Message: &message.Message{Got: &message.Got{Job: j.id,
		Refused: []task.PeerID{liar.id}, Rejected: []message.Range{{From: 0, To: 1}}}}})
	row := j.ledger.Rows[0]
	if v := j.ledger.Verdict(0); v != ledger.Open || len(row.Said()) != 2 {
		t.Fatalf("without the refused worker the task is %v, %d results count", v, len(row.Said()))
	}
	late := &poolTask{lease: message.Lease{Task: task.TaskID{Job: j.id}, Attempt: message.Attempt{Epoch: 1, Seq: 99}}}
	liar.says = "y" // it would agree with one of the others
	liar.ends(t, late, task.Completed)
	p.say(liar)
	if v := j.ledger.Verdict(0); v != ledger.Open || len(row.Said()) != 2 {
		t.Fatalf("a refused worker's result counts: the task is %v", v)
	}
	p.run(10 * time.Second)
	if v := j.ledger.Verdict(0); v != ledger.Done || j.state != jobOver {
		t.Fatalf("the task is %v", v)
	}
	for _, r := range row.Agreed() {
		if r.Worker != p.members[1].id && r.Worker != p.members[3].id {
			t.Errorf("it is done by %s", r.Worker)
		}
	}
	for k, m := range p.members {
		if p.got[m.id] != 1 {
			t.Errorf("worker %d was given the task %d times", k, p.got[m.id])
		}
	}
}
