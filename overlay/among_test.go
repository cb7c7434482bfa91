package overlay

import (
	"slices"
	"testing"

	"godwit/task"

	"pgregory.net/rapid"
)

// Places among a group without a peer are those in a copy that has it not.
func TestAmong(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		peer := rapid.SampledFrom([]task.PeerID{"", "a", "b", "c", "d", "e"})
		group := rapid.SliceOfN(peer, 0, 6).Draw(t, "group")
		without1, member := peer.Draw(t, "without"), peer.Draw(t, "member")
		rank, left := among(group, without1, member)
		rest := without(group, without1)
		if want := slices.Index(rest, member); rank != want || left != len(rest) {
			t.Errorf("%q without %q: %q is number %d of %d, want %d of %d", group, without1, member, rank, left, want, len(rest))
		}
	})
}
