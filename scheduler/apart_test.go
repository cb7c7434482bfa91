package scheduler

import (
	"fmt"
	"testing"
	"time"

	"godwit/overlay"
	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// TestRunOnceMoreElsewhere: a task that its submitter has run once more by members of other networks waits
// for one of these, and goes to anybody else once the submitter says so.
func TestRunOnceMoreElsewhere(t *testing.T) {
	const tasks = 6
	p := newOpenPool(t, Rules{}, 2, 4)
	advert := func(m *poolMember, network int) {
		p.step(message.MemberSeen{Advert: overlay.Advert{Peer: m.id, Memory: 1 << 40, Speed: 1, Slots: m.slots,
			Addrs: []string{fmt.Sprintf("/ip4/198.%d.0.7/tcp/4001", network)}}})
	}
	for _, m := range p.members {
		advert(m, 51)
	}
	id := p.submit(honestOne, tasks, time.Second, nil)
	p.run(time.Minute)
	j := p.c.table.jobs[id]
	_, who := schedtest.Identity(honestOne)
	all := ledger.Set{{From: 0, To: tasks}}
	p.step(message.Received{From: who, Message: message.Message{Got: &message.Got{Job: id, Have: all}}})
	submit := &message.Submit{Record: j.ledger.Record, Accepted: true}
	made := map[uint64]task.PeerID{}
	for i := range uint64(tasks) {
		made[i] = j.ledger.Rows[i].Agreed()[0].Worker
		submit.Again = append(submit.Again, message.Again{Index: i, Not: []task.PeerID{made[i]},
			Networks: []string{"198.51.0.0/16"}})
	}
	say := func() { p.step(message.Received{From: who, Message: message.Message{Submit: submit}}) }
	say()
	if p.run(time.Minute); len(j.live) > 0 || j.state != jobOpen {
		t.Fatalf("%d tasks run in a network that is not to have them, of a job that is open: %v", len(j.live),
			j.state == jobOpen)
	}
	if why := p.c.Why(id, 1); len(why) == 0 || len(why[0].Peers) != len(p.members) {
		t.Errorf("why it waits: %+v", why)
	}
	submit.Again[0].Networks = nil
	say()
	p.run(time.Minute)
	if row := j.ledger.Rows[0]; len(row.Agreed()) == 0 || row.Agreed()[0].Worker == made[0] {
		t.Errorf("a task that anybody may have is of %+v", row.Agreed())
	}
	other := p.join(4, 1, 1)
	advert(other, 52)
	p.run(time.Minute)
	for i := uint64(1); i < tasks; i++ {
		if by := j.ledger.Rows[i].Agreed(); len(by) == 0 || by[0].Worker != other.id {
			t.Errorf("task %d is of %+v, and not of the other network", i, by)
		}
	}
	if j.state != jobOver {
		t.Error("the job is not over")
	}
}
