package node

import (
	"testing"
	"time"

	"godwit/owner"
)

// What keeps tasks in is found out once in a while, however often it is asked, and by one who asks.
func TestWallsAreLookedAtSeldom(t *testing.T) {
	var w wallsLookedAt
	now := time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)
	ask := func(after time.Duration, wantDue bool, wantKnown int) {
		t.Helper()
		now = now.Add(after)
		if found, due := w.known(now); due != wantDue || len(found) != wantKnown {
			t.Errorf("%d are known, a look is due: %v; want %d, %v", len(found), due, wantKnown, wantDue)
		}
	}
	ask(0, true, 0)
	ask(time.Second, false, 0) // somebody looks
	w.take([]owner.Finding{{Check: "wall"}}, now)
	ask(time.Second, false, 1)
	ask(wallsFor, true, 1)
	ask(time.Second, false, 1)
	w.take(nil, time.Time{}) // that look could not be made
	ask(time.Second, true, 0)
}

// A page of the machine starts no sandbox each time that it is looked at, and tells all that doctor tells.
func TestSense(t *testing.T) {
	n := running(t, realConfig(t.TempDir()))
	whole := n.Examine(t.Context())
	at := n.Walled()
	if at.IsZero() {
		t.Error("what keeps tasks in was not looked at")
	}
	seen := n.Sense(t.Context())
	if len(seen) != len(whole) || !n.Walled().Equal(at) {
		t.Errorf("a page tells %d findings, looked at again: %v; doctor tells %d", len(seen), !n.Walled().Equal(at),
			len(whole))
	}
}
