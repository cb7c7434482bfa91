package scheduler

import (
	"strings"
	"testing"
	"time"

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
		p.step(message.Received{From: who, Message: message.Message{Got: &message.Got{Job: id, Refused: []task.PeerID{liar.id}}}})
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
	if why := p.c.members.hosts[liar.id].paused[j].why; !strings.Contains(why, "result of this worker wrong") {
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
