package scheduler

import (
	"testing"
	"time"

	"godwit/task"
)

// TestAhead: how many tasks a host is given beyond its slots. Of short ones as many as last for Lookahead; while many
// wait, of those up to LongestAhead one for each slot, or all but one would wait for a round trip where they
// end together;
// of long ones one. Where another job waits too it is none of these.
func TestAhead(t *testing.T) {
	c := NewCoordinator("leader", Default(), 1)
	c.claims.fair.all.slots = 8
	another := func(h *host) int {
		c.claims.queue.items = make([]*claimant, 2)
		defer func() { c.claims.queue.items = nil }()
		return c.chunks.aheadOfWave(&job{spec: &task.Job{}, wait: waiting{end: 100}}, h, time.Second, true)
	}
	if n := another(&host{slots: 4}); n != 0 {
		t.Errorf("%d are ahead where another job waits", n)
	}
	for _, tt := range []struct {
		slots      int
		d          time.Duration
		known      bool
		ahead, all int // where few wait, and many
	}{
		{4, 0, false, 4, 4},
		{4, 0, true, 256, 256},
		{4, time.Millisecond, true, 256, 256},
		{4, 5 * time.Millisecond, true, 80, 80},
		{4, 100 * time.Millisecond, true, 4, 4},
		{4, time.Second, true, 1, 4},
		{4, time.Second + time.Millisecond, true, 1, 4}, // as it is measured
		{4, 2 * time.Second, true, 1, 2},
		{4, 10 * time.Second, true, 1, 1},
		{64, time.Minute, true, 1, 2},
		{1, time.Hour, true, 1, 1},
	} {
		h := &host{slots: tt.slots}
		for many, want := range map[uint64]int{7: tt.ahead, 8: tt.all} {
			j := &job{spec: &task.Job{}, wait: waiting{end: many}}
			got := max(c.members.ahead(h, tt.d, tt.known), c.chunks.aheadOfWave(j, h, tt.d, tt.known))
			if got != want {
				t.Errorf("%d slots, tasks of %v (%v), %d wait: %d ahead, want %d", tt.slots, tt.d, tt.known, many, got, want)
			}
		}
	}
}
