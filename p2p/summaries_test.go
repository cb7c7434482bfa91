package p2p

import (
	"strconv"
	"testing"
	"time"

	"godwit/overlay"
	"godwit/task"
)

// Many strangers claim a cell and renew their summaries. The cell's leader is relayed all the same, each summary once,
// and the number of remembered leaders per cell is bounded.
func TestClaimsOfStrangersDoNotKeepLeaderFromBeingRelayed(t *testing.T) {
	as, m := &adverts{}, &membership{}
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	cell := overlay.Cell{Bits: 8, Prefix: 7}
	say := func(p task.PeerID) bool {
		now = now.Add(time.Second)
		return as.sums(m, &overlay.Summary{Leader: p, Cell: cell, Issued: now}, now)
	}
	for range 3 {
		for i := range 4 * claimsHeard {
			say(task.PeerID("stranger " + strconv.Itoa(i)))
		}
		if !say("leader") {
			t.Fatal("the leader's summary is not relayed")
		}
		if as.sums(m, &overlay.Summary{Leader: "leader", Cell: cell, Issued: now}, now) {
			t.Error("the leader's summary is relayed twice")
		}
	}
	if n := len(m.heard.issued[cell]); n != claimsHeard {
		t.Errorf("%d leaders of a cell are remembered, want %d", n, claimsHeard)
	}
}
