package scheduler

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"godwit/overlay"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// curious is a leader with a sweep of so many tasks that two members each must run, and members
// in every state, of which some run tasks.
func curious(t *testing.T, members int, tasks uint64) (*Coordinator, task.JobID) {
	t.Helper()
	_, self := schedtest.Identity(0)
	key, owner := schedtest.Identity(1)
	c := NewCoordinator(self, Default(), 7)
	now := schedtest.Start.Add(time.Minute) // it has recovered
	for i := range members {
		peer := task.PeerID(fmt.Sprint("member", i))
		a := overlay.Advert{Peer: peer, State: overlay.Available, Slots: i % 3, Memory: 1 << (28 + i%4), Speed: 1}
		if i%5 > 0 {
			c.Step(now, message.MemberSeen{Advert: a})
		}
		if i%7 > 0 {
			c.Step(now, &message.Received{From: peer, Message: &message.Message{Report: &message.Report{
				Epoch: 7, Slots: a.Slots, Full: true, Born: 1}}})
		}
		if i%11 == 0 {
			c.Step(now, message.MemberLost{Peer: peer, Reason: "silence"})
		}
	}
	rec := schedtest.Job(t, key, tasks, func(j *task.Job) { j.Replicas, j.Memory = 2, 1<<30 })
	for _, e := range c.Step(now, &message.Received{From: owner, Message: &message.Message{
		Submit: &message.Submit{Record: rec}}}) {
		if f, ok := e.(message.Fetch); ok {
			c.Step(now, message.Fetched{Key: f.Key})
		}
	}
	c.Step(now.Add(time.Second), message.Wake{})
	return c, rec.ID()
}

// Grouped, the reasons are those of each task.
func TestWhyAllIsWhyOfEach(t *testing.T) {
	const tasks = 60
	c, id := curious(t, 80, tasks)
	var want []WhyTasks
	for i := range uint64(tasks) {
		for _, w := range c.Why(id, i) {
			k := 0
			for k < len(want) && want[k].Reason != w.Reason {
				k++
			}
			if k == len(want) {
				want = append(want, WhyTasks{Reason: w.Reason, First: i, Peers: w.Peers})
			}
			want[k].Tasks++
		}
	}
	if got := c.WhyAll(id, 1000, nil); !reflect.DeepEqual(got, want) {
		t.Errorf("grouped:\n%+v\neach for itself:\n%+v", got, want)
	}
	if len(want) < 6 {
		t.Errorf("only %d reasons: %+v", len(want), want)
	}
	if got := c.WhyAll(id, 1, nil); len(got) == 0 || got[0].Tasks != 1 {
		t.Errorf("of one task: %+v", got)
	}
}

// However many tasks a question is about, each member is looked at once.
func TestWhyAllLooksOnce(t *testing.T) {
	c, id := curious(t, 1000, 1000)
	one := testing.AllocsPerRun(1, func() { c.WhyAll(id, 1, nil) })
	if all := testing.AllocsPerRun(1, func() { c.WhyAll(id, 1000, nil) }); all > one+100*1000 {
		t.Errorf("a question about a thousand tasks makes %v values, about one %v", all, one)
	}
}

// Who reports and never sends an advert is forgotten, whatever its reports say of themselves.
func TestHostsWithoutAdvertAreForgotten(t *testing.T) {
	for _, full := range []bool{false, true} {
		_, self := schedtest.Identity(0)
		c := NewCoordinator(self, Default(), 7)
		for i := range 100 {
			c.Step(schedtest.Start, &message.Received{From: task.PeerID(fmt.Sprint("stranger", i)), Message: &message.Message{
				Report: &message.Report{Epoch: 7, Full: full}}})
		}
		c.Step(schedtest.Start.Add(2*Default().LeaseTTL), message.Wake{})
		if n := len(c.members.hosts); n != 0 {
			t.Errorf("full %v: %d hosts without an advert are remembered", full, n)
		}
	}
}
