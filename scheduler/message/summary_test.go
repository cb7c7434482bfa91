package message

import (
	"math"
	"testing"
)

// TestTasksAtMembers: what waits at a member is not its leader's to give, and what a leader says overflows nothing.
func TestTasksAtMembers(t *testing.T) {
	const most = math.MaxUint64
	for _, tt := range []struct{ waiting, running, ahead, members, leader uint64 }{
		{10, 4, 0, 4, 10},
		{10, 4, 3, 7, 7},
		{10, 4, 11, 14, 0},
		{most, most, most, most, 0},
		{most, most - 2, 5, most, most - 5},
	} {
		s := JobSummary{Waiting: tt.waiting, Running: tt.running, Ahead: tt.ahead}
		if m, l := s.AtMembers(), s.AtLeader(); m != tt.members || l != tt.leader {
			t.Errorf("of %+v members have %d and the leader %d, want %d and %d", s, m, l, tt.members, tt.leader)
		}
	}
}
