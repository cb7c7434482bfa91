package member

import (
	"testing"
	"time"
)

// What was just saved is waited for as long as a goodbye takes, and no longer than
// leaving may take at all.
func TestLeaveLater(t *testing.T) {
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	p := New(Config{}, now)
	p.At(now, p.LeaveLater)
	if p.Leaves() {
		t.Error("a peer that stays is to leave")
	}
	for name, c := range map[string]struct{ by, most, want time.Duration }{
		"soon":             {100 * time.Millisecond, GoodbyeMost, GoodbyeTime},
		"late enough":      {GoodbyeTime + time.Minute, time.Hour, GoodbyeTime + time.Minute},
		"within the bound": {100 * time.Millisecond, time.Second, time.Second},
	} {
		p.leaveBy, p.leaveMost = now.Add(c.by), now.Add(c.most)
		p.At(now, p.LeaveLater)
		if got := p.leaveBy.Sub(now); got != c.want {
			t.Errorf("%s: it leaves after %v, want %v", name, got, c.want)
		}
	}
}
