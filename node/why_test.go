package node

import (
	"testing"

	"godwit/task"
)

// What a leader says of why tasks wait is held to a length, however much it says, and what is left out is counted: also
// of one that counts wrong.
func TestWhyKeepsFew(t *testing.T) {
	many := make([]task.PeerID, 10_000)
	for _, tt := range []struct {
		name    string
		said    Why
		more    int
		members int // of the first reason
	}{
		{"a few", Why{Reasons: []WhyReason{{Peers: many[:3]}}}, 0, 3},
		{"many peers", Why{Reasons: []WhyReason{{Peers: many}}}, 0, 10_000},
		{"already few", Why{Reasons: []WhyReason{{Peers: many[:MostWhyPeers], Members: 700}}}, 0, 700},
		{"counted wrong", Why{Reasons: []WhyReason{{Peers: many, Members: -5}}, More: -7}, 0, 10_000},
		{"many reasons", Why{Reasons: make([]WhyReason, 1000), More: 5}, 805, 0},
	} {
		w := tt.said
		w.Keep(MostWhyReasons, MostWhyPeers)
		if r := w.Reasons[0]; w.More != tt.more || r.Members != tt.members || len(w.Reasons) > MostWhyReasons ||
			len(r.Peers) > MostWhyPeers {
			t.Errorf("%s: %d reasons and %d more, of the first %d of %d peers; want %d more, %d peers", tt.name,
				len(w.Reasons), w.More, len(r.Peers), r.Members, tt.more, tt.members)
		}
	}
}
