package main

import (
	"testing"
	"time"
)

var begun = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func at(ms int) time.Time { return begun.Add(time.Duration(ms) * time.Millisecond) }

// told returns a tally of four nodes "a" to "d" that all follow a, in epoch 5.
func told() *tally {
	t := newTally()
	for i, p := range []string{"a", "b", "c", "d"} {
		t.up(i, 1, p)
	}
	for i := range 4 {
		t.saw(at(0), i, 1, view{Leader: "a", Epoch: 5})
	}
	return t
}

func TestTakeover(t *testing.T) {
	y := told()
	if l, _ := y.Leader(); l != 0 {
		t.Fatalf("leader is node %d, want 0", l)
	}
	if !y.fell(at(1000), 0, false) {
		t.Fatal("the fall of the leader is not one")
	}
	y.saw(at(1100), 0, 1, view{Leader: "a", Epoch: 9}) // an answer from before the kill
	y.saw(at(1200), 1, 1, view{Leader: "a", Epoch: 5}) // has not noticed
	y.saw(at(1300), 1, 1, view{Leader: "b", Epoch: 6})
	falls, _ := y.Falls()
	if f := falls[0]; !f.Claimed.Equal(at(1300)) || !f.Named.IsZero() {
		t.Errorf("claimed at %v, named at %v", f.Claimed, f.Named)
	}
	y.saw(at(1400), 2, 1, view{Leader: "b", Epoch: 6}) // two of the three that live
	if falls, _ = y.Falls(); !falls[0].Named.Equal(at(1400)) {
		t.Errorf("named at %v, want %v", falls[0].Named, at(1400))
	}
}

func TestGoodbye(t *testing.T) {
	y := told()
	y.fell(at(1000), 0, true)
	y.saw(at(1100), 0, 1, view{Leader: "a", Epoch: 7}) // it cannot follow itself
	if falls, _ := y.Falls(); !falls[0].Claimed.IsZero() || !falls[0].Asked {
		t.Errorf("the leader that leaves took over from itself: %+v", falls[0])
	}
	y.down(0, 1)
	y.up(0, 2, "a")
	y.saw(at(1500), 0, 2, view{Leader: "a", Epoch: 8})
	if falls, _ := y.Falls(); !falls[0].Claimed.Equal(at(1500)) {
		t.Errorf("restarted it may lead again, but claimed is %v", falls[0].Claimed)
	}
}

func TestOthersFall(t *testing.T) {
	y := told()
	if y.fell(at(1000), 2, false) {
		t.Error("the fall of a member is taken for a leader's")
	}
	if falls, _ := y.Falls(); len(falls) != 0 {
		t.Errorf("%d takeovers are measured, want none", len(falls))
	}
}

func TestWhatNoNodeMayDo(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(*tally)
		want int
	}{
		"a later epoch":    {func(y *tally) { y.saw(at(1), 2, 1, view{Leader: "b", Epoch: 6}) }, 0},
		"no leader at all": {func(y *tally) { y.saw(at(1), 2, 1, view{}) }, 0},
		"an earlier epoch": {func(y *tally) { y.saw(at(1), 2, 1, view{Leader: "b", Epoch: 4}) }, 1},
		"restarted, too":   {func(y *tally) { y.up(2, 2, "c"); y.saw(at(1), 2, 2, view{Leader: "b", Epoch: 4}) }, 1},
		"two in one epoch": {func(y *tally) { y.saw(at(1), 1, 1, view{Leader: "b", Epoch: 5}) }, 1},
		"said once": {func(y *tally) {
			y.saw(at(1), 1, 1, view{Leader: "b", Epoch: 5})
			y.saw(at(2), 1, 1, view{Leader: "b", Epoch: 5})
		}, 1},
		"before the begin":  {func(y *tally) { y.saw(at(1), 2, 1, view{Leader: "b", Epoch: 4}); y.begin() }, 0},
		"the same one more": {func(y *tally) { y.saw(at(1), 0, 1, view{Leader: "a", Epoch: 5}) }, 0},
	} {
		y := told()
		c.do(y)
		if _, broken := y.Falls(); len(broken) != c.want {
			t.Errorf("%s: %d complaints, want %d: %v", name, len(broken), c.want, broken)
		}
	}
}
