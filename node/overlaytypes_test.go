package node

import (
	"crypto/ed25519"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"godwit/task"
)

// somePeers returns n peer IDs.
func somePeers(n int) []task.PeerID {
	out := make([]task.PeerID, n)
	seed := make([]byte, ed25519.SeedSize)
	for i := range out {
		binary.LittleEndian.PutUint64(seed, uint64(i))
		out[i] = task.PeerIDOf(ed25519.NewKeyFromSeed(seed).Public().(ed25519.PublicKey))
	}
	return out
}

// What an overlay's rules may be, and what is said of those that cannot be.
func TestOverlayRulesCheck(t *testing.T) {
	many := somePeers(MaxAllowed + 1)
	for name, c := range map[string]struct {
		rules OverlayRules
		text  string // of the error; "" for none
	}{
		"usual": {OverlayRules{Name: "lab"}, ""},
		"all": {OverlayRules{Name: "lab", Placement: "fcfspp:t=0.6", Migration: "pspp", Fairness: "sep",
			Chunking: "gss", Coordinators: MaxCoordinators, Replicas: task.MaxReplicas, Admission: AdmitInvited,
			RevokeInvitations: true}, ""},
		"longest name":     {OverlayRules{Name: strings.Repeat("x", task.MaxName)}, ""},
		"another script":   {OverlayRules{Name: "実験室"}, ""},
		"longest list":     {OverlayRules{Name: "lab", Admission: AdmitListed, Allowed: many[:MaxAllowed]}, ""},
		"no name":          {OverlayRules{}, "name has 0 bytes"},
		"long name":        {OverlayRules{Name: strings.Repeat("x", task.MaxName+1)}, "name has 129 bytes"},
		"name with space":  {OverlayRules{Name: "my lab"}, "white space"},
		"name with bell":   {OverlayRules{Name: "lab\a"}, "do not print"},
		"name of no text":  {OverlayRules{Name: "lab\xff"}, "do not print"},
		"name is an ID":    {OverlayRules{Name: string(task.RawCID(nil))}, "reads as an ID"},
		"name is a ticket": {OverlayRules{Name: "godwit1abc"}, "or a ticket"},
		"long policy": {OverlayRules{Name: "lab", Migration: "pspp:n=" + strings.Repeat("1", MaxPolicy)},
			"at most 256 bytes"},
		"trusted": {OverlayRules{Name: "lab", Trusted: many[:MaxTrusted]}, ""},
		"many trusted": {OverlayRules{Name: "lab", Trusted: many[:MaxTrusted+1]},
			"65 peers are on the list of those who"},
		"no cells":         {OverlayRules{Name: "lab", Cells: CellsOff}, ""},
		"unknown cells":    {OverlayRules{Name: "lab", Cells: "some"}, "cells are on or off"},
		"priorities":       {OverlayRules{Name: "lab", Priorities: true}, ""},
		"priorities too":   {OverlayRules{Name: "lab", Priorities: true, Admission: AdmitInvited}, "always count"},
		"trusted twice":    {OverlayRules{Name: "lab", Trusted: []task.PeerID{many[0], many[0]}}, "twice"},
		"revoking nothing": {OverlayRules{Name: "lab", RevokeInvitations: true}, `go with admission "invited"`},
		"no placement":     {OverlayRules{Name: "lab", Placement: "nosuch"}, `there is no policy "nosuch": use one of `},
		"bad placement":    {OverlayRules{Name: "lab", Placement: "fcfspp:nosuch=3"}, `unknown parameter "nosuch"`},
		"no fairness":      {OverlayRules{Name: "lab", Fairness: "fair"}, `share: there is no policy "fair"`},
		"no chunking":      {OverlayRules{Name: "lab", Chunking: "big"}, `chunk: there is no policy "big"`},
		"no migration":     {OverlayRules{Name: "lab", Migration: "fcfs"}, `migrate: there is no policy "fcfs"`},
		"coordinators":     {OverlayRules{Name: "lab", Coordinators: MaxCoordinators + 1}, "coordinators are 1 to 7, not 8"},
		"coordinators<0":   {OverlayRules{Name: "lab", Coordinators: -1}, "coordinators are 1 to 7, not -1"},
		"replicas":         {OverlayRules{Name: "lab", Replicas: task.MaxReplicas + 1}, "replicas are 1 to 64, not 65"},
		"verify":           {OverlayRules{Name: "lab", Verify: "often"}, `verify "often" is not understood`},
		"slots each":       {OverlayRules{Name: "lab", SlotsEach: 8, Admission: AdmitInvited}, ""},
		"slots when open":  {OverlayRules{Name: "lab", SlotsEach: 8}, "takes the admission invited or listed"},
		"slots<0":          {OverlayRules{Name: "lab", SlotsEach: -1, Admission: AdmitInvited}, "or 0 for no limit, not -1"},
		"replicas<0":       {OverlayRules{Name: "lab", Replicas: -1}, "replicas are 1 to 64"},
		"admission": {OverlayRules{Name: "lab", Admission: "friends"},
			`no admission "friends": use one of invited, listed, open`},
		"list when open": {OverlayRules{Name: "lab", Allowed: many[:1]}, `goes with admission "listed"`},
		"long list":      {OverlayRules{Name: "lab", Admission: AdmitListed, Allowed: many}, "1025 peers are on the list"},
		"no peer":        {OverlayRules{Name: "lab", Admission: AdmitListed, Allowed: []task.PeerID{"me"}}, `peer ID "me"`},
		"twice": {OverlayRules{Name: "lab", Admission: AdmitListed,
			Allowed: []task.PeerID{many[0], many[1], many[0]}}, "on the list twice"},
	} {
		switch err := c.rules.Check(); {
		case c.text == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.text != "" && (!errors.Is(err, ErrInvalidRules) || !strings.Contains(err.Error(), c.text)):
			t.Errorf("%s: got %v, want %q", name, err, c.text)
		}
	}
}
