package p2p

import (
	"slices"
	"testing"
	"time"
)

// TestCandidates: relays are public, then elsewhere than those that are held, then near.
func TestCandidates(t *testing.T) {
	order := []candidate{
		{reach: 0, far: farOf(8 * time.Millisecond)},
		{reach: 0, far: farOf(300 * time.Millisecond)},
		{reach: 0, crowded: true, far: farOf(time.Millisecond)},
		{reach: 1, far: farOf(time.Millisecond)},
		{reach: 1, crowded: true},
	}
	if !slices.IsSortedFunc(order, candidate.compare) {
		t.Error("they are not in order")
	}
	for i := range order {
		for k := range order {
			if got := order[i].compare(order[k]); (got < 0) != (i < k) || (got > 0) != (i > k) {
				t.Errorf("%+v to %+v: %d", order[i], order[k], got)
			}
		}
	}
	for trip, like := range map[time.Duration]time.Duration{
		0: 40 * time.Millisecond, time.Millisecond: 4 * time.Millisecond, 21 * time.Millisecond: 39 * time.Millisecond,
	} {
		if farOf(trip) != farOf(like) {
			t.Errorf("%v is as far as %d, %v as %d", trip, farOf(trip), like, farOf(like))
		}
	}
	if farOf(10*time.Millisecond) >= farOf(20*time.Millisecond) || farOf(0) >= farOf(200*time.Millisecond) {
		t.Error("who is nearer does not come first")
	}
}
