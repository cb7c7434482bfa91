package submitter

import (
	"slices"
	"testing"

	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// newReplicaBench has a job of n tasks with two replicas each that says so of verify.
func newReplicaBench(tb testing.TB, n uint64, verify string) *leaderBench {
	b := newLeaderBench(tb, 1, "off", true)
	v, err := task.ParseVerify(verify)
	if err != nil {
		tb.Fatal(err)
	}
	rec := schedtest.Job(tb, b.key, n, func(j *task.Job) { j.Verify, j.Replicas, j.Name = v, 2, "replicas" })
	b.id, b.have, b.delivery = rec.ID(), nil, 0
	b.act(message.Offer{Record: rec})
	return b
}

// Replicas that agree are checked by the rule as other results are: all who signed a wrong one are named.
func TestReplicasAreChecked(t *testing.T) {
	b := newReplicaBench(t, 2, "full")
	b.deliver(0, nil, b.ran(2, 0, "wrong"), b.ran(3, 0, "wrong"))
	b.deliver(1, nil, b.ran(4, 1, truth), b.ran(5, 1, truth))
	for len(b.audits) > 0 {
		b.answer(b.says(truth))
	}
	if c := b.allChecks(); c.Wrong != 1 || c.Right != 1 || b.faults(2) != 1 || b.faults(3) != 1 || b.faults(4)+b.faults(5) > 0 {
		t.Errorf("%+v, faults %d, %d, %d, %d", c, b.faults(2), b.faults(3), b.faults(4), b.faults(5))
	}
	for _, w := range []int{4, 5} {
		if c := b.s.audits.known(peerOf(w)); c.Audits != 1 {
			t.Errorf("worker %d has %d audits, want 1", w, c.Audits)
		}
	}
}

// Free keys that agree as replicas are not accepted for that: their result is unchecked, and in doubt once any of them
// is found wrong.
func TestReplicasOfStrangers(t *testing.T) {
	b := newReplicaBench(t, 40, "0.0001%")
	b.s.cfg.Pool.Least = 0
	b.deliver(0, nil, b.ran(2, 0, "wrong"), b.ran(3, 0, "wrong"))
	if got := b.standings(0)[0]; got != message.StandingUnchecked || b.allChecks().Agreed > 0 {
		t.Errorf("of strangers: %q, %+v", got, b.allChecks())
	}
	b.act(message.Proven{Worker: peerOf(3), Task: task.TaskID{Job: "elsewhere"}, Why: "it lied"})
	if c := b.allChecks(); c.Doubted != 1 || slices.Contains(b.lacking(), 0) {
		t.Errorf("one of them is wrong elsewhere: %+v", c)
	}
}
