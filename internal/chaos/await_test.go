package main

import (
	"strings"
	"testing"
)

// swarmOf returns the sights of four nodes "a" to "d"; a leads, b and c are of
// its group, and all have the same ledger.
func swarmOf() map[int]sight {
	sights := map[int]sight{}
	for i, p := range []string{"a", "b", "c", "d"} {
		v := view{Leader: "a", Epoch: 5, Role: roleCoordinator, Members: 4, Group: []string{"a", "b", "c"}, Digest: "feed",
			Synced: true}
		switch p {
		case "a":
			v.Role, v.Synced = roleLeader, false // it has nobody to ask
		case "d":
			v.Role, v.Digest, v.Synced = "member", "", false
		}
		sights[i] = sight{peer: p, life: 1, view: v}
	}
	return sights
}

// but returns what a node says, changed.
func but(sights map[int]sight, node int, change func(*view)) map[int]sight {
	s := sights[node]
	change(&s.view)
	sights[node] = s
	return sights
}

func TestWhole(t *testing.T) {
	missing := swarmOf()
	delete(missing, 2)
	for name, c := range map[string]struct {
		sights map[int]sight
		live   int
		want   string // part of it; "" for nothing missing
	}{
		"whole":          {swarmOf(), 4, ""},
		"one is down":    {missing, 4, "3 of 4 nodes run"},
		"dead in group":  {missing, 3, "is of the group and does not run"},
		"knows none":     {but(swarmOf(), 3, func(v *view) { v.Leader = "" }), 4, "knows no leader"},
		"knows another":  {but(swarmOf(), 3, func(v *view) { v.Leader = "b" }), 4, "two leaders"},
		"knows few":      {but(swarmOf(), 3, func(v *view) { v.Members = 3 }), 4, "knows 3 members"},
		"knows the dead": {but(swarmOf(), 3, func(v *view) { v.Members = 5 }), 4, ""},
		"small group":    {but(swarmOf(), 0, func(v *view) { v.Group = v.Group[:2] }), 4, "2 coordinators"},
		"no role":        {but(swarmOf(), 1, func(v *view) { v.Role = "member" }), 4, `role "member"`},
		"not synced":     {but(swarmOf(), 1, func(v *view) { v.Synced = false }), 4, "synced false"},
	} {
		if got := whole(c.sights, c.live, groupSize); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestEqual(t *testing.T) {
	for name, c := range map[string]struct {
		sights map[int]sight
		want   string
	}{
		"equal":         {swarmOf(), ""},
		"different":     {but(swarmOf(), 1, func(v *view) { v.Digest = "dead" }), "copies differ"},
		"without":       {but(swarmOf(), 1, func(v *view) { v.Digest = "" }), "holds no ledger"},
		"too few":       {but(swarmOf(), 1, func(v *view) { v.Role = "member" }), "2 nodes say"},
		"a member's is": {but(swarmOf(), 3, func(v *view) { v.Digest = "dead" }), ""},
	} {
		if got := equal(c.sights, 3); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
