package node

import (
	"encoding/json"
	"slices"
	"testing"
	"testing/synctest"

	"godwit/overlay"
	"godwit/task"
)

// tells asks a peer for what it saw to be wrong, as another does.
func (p *peer) tells(t *testing.T, lab overlay.ID, to *peer, parts bool) [][]byte {
	t.Helper()
	body, err := json.Marshal(proofsQuery{lab, parts, parts})
	if err != nil {
		t.Fatal(err)
	}
	b, err := p.proofs.answerProofs(t.Context(), to.ID(), body)
	if err != nil {
		t.Fatal(err)
	}
	a, err := readProofs(b)
	if err != nil {
		t.Fatal(err)
	}
	return a.Statements
}

// What is wrong with a sealed job coordinators are told, who have its key, and nobody else; they see for themselves,
// and refuse who is wrong.
func TestSealedProof(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, lab := sealedSwarm(t, OverlayRules{Name: "lab", Admission: AdmitInvited}, noise("right", 64))
		leader := s.leadingIn(lab, s.peers[0])
		var group []task.PeerID
		s.until("there is a group", func() bool {
			leader.onLoop(t, func() { group = slices.Clone(leader.overlays.members[lab].Group()) })
			return len(group) == overlay.GroupSize
		})
		var owner, liar *peer
		for _, p := range s.peers {
			switch {
			case p == leader:
			case owner == nil && slices.Contains(group, p.ID()):
				owner = p
			default:
				liar = p
			}
		}
		liar.other.(*copier).after = noise("wrong", 64)
		sub := owner.copyJob(t, lab, noise("an input", 3000), false)
		v, err := task.ParseVerify("full")
		if err != nil {
			t.Fatal(err)
		}
		sub.File.Verify = v
		id, err := owner.Submit(t.Context(), sub)
		if err == nil {
			err = owner.CheckMore(t.Context(), id, 0)
		}
		if err != nil {
			t.Fatal(err)
		}
		if c := owner.settle(id).Checks; c.Wrong == 0 {
			t.Fatalf("nobody lied: %+v", c)
		}
		for _, p := range s.peers {
			if told := owner.tells(t, lab, p, true); (len(told) > 0) != slices.Contains(group, p.ID()) && p != owner {
				t.Errorf("%s, one of %d coordinators, is told %d statements", shortPeer(p.ID()), len(group), len(told))
			}
		}
		refuses := func(p *peer) (refused bool) {
			p.onLoop(t, func() { refused = p.overlays.members[lab].Submitter().Refuses(liar.ID()) })
			return refused
		}
		for _, b := range owner.tells(t, lab, leader, true) {
			leader.onLoop(t, func() { leader.proofs.consider(leader.overlays.members[lab], owner.ID(), [][]byte{b}) })
			s.until("it is looked at", func() bool { return !leader.look().checking })
		}
		if !refuses(leader) {
			t.Errorf("the leader does not refuse the liar: %+v", leader.look())
		}
		if told := leader.tells(t, lab, liar, true); len(told) > 0 && !slices.Contains(group, liar.ID()) {
			t.Error("it tells others")
		}
	})
}
