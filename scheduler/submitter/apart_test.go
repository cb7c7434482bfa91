package submitter

import (
	"testing"
	"time"

	"godwit/scheduler/schedtest"
	"godwit/task"
)

// houses are the networks of workers 2, 3 and 4.
func houses(names ...string) networks {
	return func(w task.PeerID) string {
		for i, name := range names {
			if _, worker := schedtest.Identity(2 + i); worker == w {
				return name
			}
		}
		return ""
	}
}

// A task that runs once more goes to another network first: a leader that brings a result of the same one,
// whether it heard of that or not, is told again. After a while anybody may.
func TestAuditorsOfOtherNetworks(t *testing.T) {
	const one, other = "198.51.0.0/16", "203.0.0.0/16"
	for name, tt := range map[string]struct {
		where  networks
		named  string // the network that is not to have the task
		second bool   // worker 3 may bring it at once
	}{
		"another network":     {houses(one, other, one), one, true},
		"the same network":    {houses(one, one, other), "", true}, // workers 2 and 3 are all there are
		"one that is unknown": {houses(one, ""), one, true},
		"nobody is known":     {houses("", ""), "", true},
	} {
		b := newLeaderBench(t, 1, "full", false)
		b.s.cfg.Where = tt.where
		b.bring(2, 0, truth)
		for n := 0; len(b.again) < 1; n++ {
			if n == 10 {
				t.Fatalf("%s: nobody is asked", name)
			}
			b.wait()
		}
		named := b.again[0].Networks
		if len(named) > 1 || len(named) == 1 && named[0] != tt.named || (len(named) == 0) != (tt.named == "") {
			t.Errorf("%s: barred are %v", name, named)
		}
		if b.bring(3, 0, truth); (b.checks().Due == 0) != tt.second {
			t.Errorf("%s: %+v", name, b.checks())
		}
	}
}

func TestSameNetworkInTheEnd(t *testing.T) {
	const one, other = "198.51.0.0/16", "203.0.0.0/16"
	b := newLeaderBench(t, 1, "full", false)
	b.s.cfg.Where = houses(one, other, one)
	b.bring(2, 0, truth)
	for n := 0; len(b.again) < 1; n++ {
		if n == 10 {
			t.Fatal("nobody is asked")
		}
		b.wait()
	}
	asked := b.now
	if b.bring(4, 0, truth); b.checks().Due != 1 {
		t.Fatal("one of the same network is believed at once")
	}
	for len(b.again[0].Networks) > 0 {
		if b.now.Sub(asked) > 2*apartFor {
			t.Fatal("only other networks are waited for, without end")
		}
		b.wait()
	}
	if b.now.Sub(asked) < apartFor-time.Second {
		t.Errorf("other networks are waited for %v", b.now.Sub(asked))
	}
	if b.bring(4, 0, truth); b.checks().Due != 0 {
		t.Errorf("%+v", b.checks())
	}
}
