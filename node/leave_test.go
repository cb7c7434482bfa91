package node

import (
	"testing"
	"testing/synctest"
	"time"
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
