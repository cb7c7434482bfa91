package member

import (
	"fmt"
	"testing"
	"time"

	"godwit/task"
)

// TestMet checks from when on a worker's lease counts: its first advert has to be here by then, unless this node was away.
func TestMet(t *testing.T) {
	start := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	at := func(minutes int) time.Time { return start.Add(time.Duration(minutes) * time.Minute) }
	everybody := func(task.PeerID) bool { return true }
	var a acquaintances
	a.meet("self", at(0), everybody)
	a.meet("early", at(1), everybody)
	a.meet("self", at(15), everybody)
	a.meet("self", at(30), everybody)
	a.meet("later", at(40), everybody)
	for _, tt := range []struct {
		worker task.PeerID
		lease  int
		want   bool
	}{
		{"early", 20, true},
		{"early", -60, true}, // this node had not started
		{"later", 20, false}, // nothing was heard of it then
		{"later", 39, true},  // its advert was on its way
		{"later", 50, true},
		{"later", -60, false}, // it came long after this node started
		{"nobody", 50, false},
	} {
		if got := a.met(tt.worker, at(tt.lease)); got != tt.want {
			t.Errorf("%s with a lease of minute %d: %v, want %v", tt.worker, tt.lease, got, tt.want)
		}
	}
	a.meet("self", at(600), everybody) // the machine was asleep
	a.meet("night", at(601), everybody)
	if !a.met("night", at(300)) || a.met("later", at(20)) != true {
		t.Error("leases from while this node was away do not count")
	}
}

// TestMetIsBounded has a crowd of keys send adverts. The members that are there stay known.
func TestMetIsBounded(t *testing.T) {
	start := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	var a acquaintances
	a.meet("honest", start, func(task.PeerID) bool { return true })
	for i := range 3 * maxMet {
		now := start.Add(time.Duration(i) * time.Millisecond)
		a.meet(task.PeerID(fmt.Sprint("liar ", i)), now, func(p task.PeerID) bool { return p == "honest" })
		if len(a.first) > maxMet {
			t.Fatalf("%d peers are remembered", len(a.first))
		}
	}
	if !a.met("honest", start.Add(time.Hour)) {
		t.Error("a member that is there was forgotten")
	}
}
