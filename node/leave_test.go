package node

import (
	"testing"
	"testing/synctest"
	"time"

	"godwit/owner"
	"godwit/scheduler/message"
)

// What was just saved is waited for as long as a goodbye takes, and no longer than
// leaving may take at all.
func TestLeaveLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &Node{clock: newClock()}
		n.leaveLater()
		if !n.leaveBy.IsZero() {
			t.Error("a node that stays is to leave")
		}
		for name, c := range map[string]struct{ by, most, want time.Duration }{
			"soon":             {100 * time.Millisecond, goodbyeMost, goodbyeTime},
			"late enough":      {goodbyeTime + time.Minute, time.Hour, goodbyeTime + time.Minute},
			"within the bound": {100 * time.Millisecond, time.Second, time.Second},
		} {
			now := n.now()
			n.leaveBy, n.leaveMost = now.Add(c.by), now.Add(c.most)
			n.leaveLater()
			if got := n.leaveBy.Sub(now); got != c.want {
				t.Errorf("%s: it leaves after %v, want %v", name, got, c.want)
			}
		}
	})
}

// What runs stands still for its way in time before the machine goes.
func TestLastMoment(t *testing.T) {
	n := &Node{}
	if !n.lastMoment().IsZero() {
		t.Error("a machine that stays has a last moment")
	}
	until := time.Now().Add(time.Hour)
	n.decision = owner.Decision{Until: until}
	if d := until.Sub(n.lastMoment()); d != haste {
		t.Errorf("with nothing to send it is %v before the end, want %v", d, haste)
	}
	place := &givers{}
	place.note(30e6)
	n.pace.rate = 1e6
	n.running = map[message.AttemptName]attempt{{}: {place: place}}
	if d, want := until.Sub(n.lastMoment()), aheadRounds*30*time.Second; d != want {
		t.Errorf("with 30 MB at 1 MB/s it is %v before the end, want %v", d, want)
	}
}
