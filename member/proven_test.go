package member

import (
	"testing"
	"time"

	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/scheduler/submitter"
	"godwit/task"
)

// Who was proven wrong to a node has no lease from it when it leads, also after it started anew; of a node to which
// nothing was proven it has.
func TestProvenWorkerGetsNoLease(t *testing.T) {
	s := newSwarm(t, 4)
	s.start()
	if !s.pass(time.Minute, func() bool { return s.leader() != nil }) {
		t.Fatal("nobody leads")
	}
	leader := s.leader()
	_, liar := schedtest.Identity((leader.n + 1) % 4)
	owner := s.hosts[(leader.n+2)%4] // to whom nothing is proven
	ran := func(n byte) bool {
		id := owner.submitAs(40, n)
		if !s.pass(5*time.Minute, func() bool { return owner.held(id) == 40 }) {
			t.Fatalf("job %d: %d of 40 are held", n, owner.held(id))
		}
		for i := range uint64(40) {
			r, err := submitter.DecodeSummary(owner.disk[submitter.ResultKey(id, i)])
			if err != nil {
				t.Fatal(err)
			}
			if r.Results[0].Worker == liar {
				return true
			}
		}
		return false
	}
	if !ran(1) {
		t.Error("it runs nothing though nothing is proven")
	}
	m := leader.m
	proven := message.Proven{Task: task.TaskID{Job: "elsewhere"}, Worker: liar, Why: "why"}
	leader.at(func() { m.step(m.Submitter(), proven) })
	s.settle()
	if ran(2) {
		t.Error("it was given a lease")
	}
	leader.crash()
	leader.boot()
	s.settle()
	leader.at(leader.m.Found)
	if !s.pass(5*time.Minute, func() bool { return s.leader() == leader }) {
		t.Fatal("another leads now, to whom nothing was proven")
	}
	if ran(3) {
		t.Error("after a start it was given a lease")
	}
}
