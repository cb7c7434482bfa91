package overlay

import (
	"testing"
	"time"

	"godwit/task"
)

// TestFollowedEpochs has a member follow leaders in terms 1, 2 and 6, each of which it ranks before the last. It knows whom it followed in which epoch, and that
// somebody else can have led only between terms 2 and 6.
func TestFollowedEpochs(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	l := NewLease("self", epochOf(0, "founder"), now)
	follow := func(leader task.PeerID, term uint64) uint64 {
		now = now.Add(time.Hour)
		epoch := epochOf(term, leader)
		l.Heard(leader, Renewal{Epoch: epoch, Group: []task.PeerID{leader, "standby"}}, now)
		if got, _ := l.Leader(); got != leader {
			t.Fatalf("it follows %q in term %d, want %q", got, term, leader)
		}
		return epoch
	}
	first, second := follow("c", 1), follow("b", 2)
	follow("a", 6)
	for _, tt := range []struct {
		peer                   task.PeerID
		epoch                  uint64
		followed, mayHave, led bool
	}{
		{"c", first, true, false, true},
		{"b", second, true, false, true},
		{"b", first, false, false, false},                      // another's epoch
		{"standby", epochOf(2, "standby"), false, false, true}, // in another part of the network
		{"standby", epochOf(4, "standby"), false, true, true},
		{"stranger", epochOf(4, "stranger"), false, true, false},
		{"stranger", epochOf(1, "stranger"), false, false, false},
		{"standby", epochOf(7, "standby"), false, false, true},
		{"stranger", epochOf(4, "standby"), false, false, false},
	} {
		if got := l.Followed(tt.peer, tt.epoch); got != tt.followed {
			t.Errorf("%s in term %d is followed: %v", tt.peer, Term(tt.epoch), got)
		}
		if got := l.MayHaveLed(tt.peer, tt.epoch); got != tt.mayHave {
			t.Errorf("%s in term %d may have led: %v", tt.peer, Term(tt.epoch), got)
		}
		if got := l.Led(tt.peer, tt.epoch); got != tt.led {
			t.Errorf("%s in term %d led or stood by: %v", tt.peer, Term(tt.epoch), got)
		}
	}
}
