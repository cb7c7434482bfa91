package node

import (
	"strings"
	"testing"

	"godwit/owner"
	"godwit/p2p"
	"godwit/task"
)

// TestReachFinding: a person is told whether others dial the node, through whom they come if not, what
// the router does, and what to do where nobody comes.
func TestReachFinding(t *testing.T) {
	relays := []task.PeerID{"12D3KooWfirst", "12D3KooWsecond"}
	for name, tt := range map[string]struct {
		of     ReachStatus
		peers  int
		result string
		says   []string
	}{
		"alone":   {ReachStatus{}, 0, owner.OK, []string{"nobody is connected"}},
		"unknown": {ReachStatus{Reach: "unknown"}, 3, owner.OK, []string{"nobody has told yet"}},
		"public":  {ReachStatus{Reach: "public"}, 3, owner.OK, []string{"others dial this node"}},
		"relays": {ReachStatus{Reach: "public", Circuits: 2, CarriedBytes: 3 << 20}, 3, owner.OK,
			[]string{"others dial", "relays 2 connections, 3MiB so far"}},
		"hidden": {ReachStatus{Hidden: true, Relays: relays, NAT: p2p.EndpointIndependent}, 3, owner.OK,
			[]string{"through " + shortPeer(relays[0]) + " and " + shortPeer(relays[1]), "one port for all", "directly"}},
		"symmetric": {ReachStatus{Hidden: true, Relays: relays[:1], NAT: p2p.EndpointDependent,
			Relayed: []RelayedPeer{{"a", "b"}}}, 3, owner.OK, []string{"another port for each", "with 1 peers"}},
		"stranded": {ReachStatus{Hidden: true}, 1, owner.Blind, []string{"no member relays for it"}},
	} {
		f := tt.of.finding(tt.peers)
		if f.Check != "reach" || f.Result != tt.result || (f.Fix != "") != (tt.result != owner.OK) {
			t.Errorf("%s: %+v", name, f)
		}
		for _, want := range tt.says {
			if !strings.Contains(f.Text, want) {
				t.Errorf("%s: %q does not say %q", name, f.Text, want)
			}
		}
	}
}
