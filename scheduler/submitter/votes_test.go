package submitter

import (
	"slices"
	"testing"

	"godwit/scheduler/message"
	"godwit/task"
)

// ranHere brings right results of workers that this machine runs again, so that the workers count as known.
func (b *leaderBench) ranHere(workers ...int) {
	b.tb.Helper()
	for _, w := range workers {
		b.knows(w, knownAfter+1)
	}
}

// voteOn has workers run task 0 once more, each with a result, until the vote on it ends.
func (b *leaderBench) voteOn(says map[int]string, workers ...int) {
	b.untilAsked()
	for _, w := range workers {
		if b.s.jobs[b.id].checks.away.Contains(0) {
			b.bring(w, 0, says[w])
		}
	}
}

// Keys cost nothing: however many strangers agree, with each `verify`, this machine runs the task itself, although it
// lends no core.
func TestStrangersThatAgreeDoNotSuffice(t *testing.T) {
	for _, verify := range []string{"1e-3", "full", "100%"} {
		b := newLeaderBench(t, 1, verify, false)
		b.bring(2, 0, "wrong")
		b.voteOn(map[int]string{3: "wrong", 4: "wrong", 5: "wrong", 6: "wrong"}, 3, 4, 5, 6)
		if c := b.allChecks(); c.Accepted != 0 || c.Due != 1 || len(b.audits) != 1 || !b.audits[0].Alone {
			t.Fatalf("%s: %+v, %v run here", verify, c, b.audits)
		}
		b.answer(b.says(truth))
		b.answer(b.says(truth))
		if c := b.allChecks(); c.Wrong != 1 || b.faults(2)+b.faults(3)+b.faults(4)+b.faults(5) != 4 {
			t.Errorf("%s: %+v", verify, c)
		}
	}
}

// Strangers never decide a vote in which workers disagree, even with a bound that they meet by number: neither against
// a known worker nor against a stranger. This machine decides instead.
func TestStrangersOutvoteNobody(t *testing.T) {
	for name, known := range map[string][]int{"a known worker": {2}, "a stranger": nil} {
		b := newLeaderBench(t, 1, "0.2", false)
		b.ranHere(known...)
		b.s.jobs[b.id].spec.Verify.Audits = 1_000_000
		b.bring(2, 0, truth)
		says, all := map[int]string{}, []int{}
		for w := 3; w < 3+mostOpposed; w++ {
			says[w], all = "wrong", append(all, w)
		}
		b.voteOn(says, all...)
		if !b.s.audits.abroad.says(peerOf(2)) || len(b.lacks()) > 0 || len(b.audits) != 1 {
			t.Fatalf("%s is outvoted by strangers: %v, %v run here", name, b.lacks(), b.audits)
		}
		b.answer(b.says(truth))
		b.answer(b.says(truth))
		if c := b.allChecks(); c.Right != 1 || b.faults(2) > 0 || b.faults(3) == 0 {
			t.Errorf("%s: %+v, %d faults", name, c, b.faults(2))
		}
	}
}

// Workers whose work was found right here decide: they agree with a result and accept it, or outvote a stranger.
func TestKnownWorkersDecide(t *testing.T) {
	b := newLeaderBench(t, 1, "full", false)
	b.knows(2, 20)
	b.knows(3, 20)
	b.bring(2, 0, truth)
	b.voteOn(map[int]string{3: truth}, 3)
	if c := b.allChecks(); c.Agreed != 1 || !c.Delivered {
		t.Errorf("two known workers agree: %+v", c)
	}
	b = newLeaderBench(t, 1, "full", false)
	b.knows(3, 20)
	b.knows(4, 20)
	b.bring(2, 0, "wrong")
	b.voteOn(map[int]string{3: truth, 4: truth}, 3, 4)
	if b.s.audits.abroad.says(peerOf(2)) || !slices.Equal(b.lacks(), []uint64{0}) {
		t.Errorf("two known workers outvote nobody: %+v", b.allChecks())
	}
}

// What workers agree on stays within the limits for crowds: 30 % of a job where all of them are strangers, 20 % where
// all are in one network.
func TestCrowdsThatAgree(t *testing.T) {
	const tasks = 10
	for name, tt := range map[string]struct {
		network string
		known   float64 // tasks of each worker found right here
		accepts uint64
	}{
		"one network":     {"198.51.0.0/16", 100, 2},
		"known, anywhere": {"", 100, tasks},
		"strangers":       {"", 1, 3},
	} {
		b := newLeaderBench(t, tasks, "full", false)
		b.s.cfg.Where = networks(func(task.PeerID) string { return tt.network })
		if tt.known < knownAfter {
			b.s.jobs[b.id].spec.Verify.Wrong = 2e8 // a bound that two strangers meet
		}
		b.knows(2, tt.known)
		b.knows(3, tt.known)
		for i := range uint64(tasks) {
			b.bring(2, i, truth)
		}
		for n := 0; len(b.again) < tasks && n < 100; n++ {
			b.wait()
		}
		for i := range uint64(tasks) {
			b.bring(3, i, truth)
		}
		if c := b.allChecks(); c.Agreed != tt.accepts {
			t.Errorf("%s: %d results are accepted by agreement, want %d", name, c.Agreed, tt.accepts)
		}
		b.act(message.Wake{})
	}
}
