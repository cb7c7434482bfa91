package place

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"godwit/task"
)

// held is Holdings in which nothing is forgotten.
type held map[task.CID][]task.PeerID

func (h held) Holds(peer task.PeerID, input task.CID) bool { return slices.Contains(h[input], peer) }
func (h held) Held(input task.CID) bool                    { return len(h[input]) > 0 }
func (h held) Note(peer task.PeerID, input task.CID)       { h[input] = append(h[input], peer) }

func reading(inputs ...string) (reads [][]task.FileRef) {
	for _, names := range inputs {
		var refs []task.FileRef
		for _, c := range names {
			refs = append(refs, task.FileRef{CID: task.CID(c), Size: int64(1 + c - 'a')})
		}
		reads = append(reads, refs)
	}
	return reads
}

func TestNearest(t *testing.T) {
	for name, c := range map[string]struct {
		peers string
		reads []string
		holds held
		want  []int
	}{
		"nobody holds anything: each its own": {"xyz", []string{"a", "a", "b", "b", "c"}, held{}, []int{0, 2, 4}},
		"all is held by others: in order":     {"xy", []string{"a", "a"}, held{"a": {"z"}}, []int{0, 1}},
		"to who has it":                       {"xy", []string{"a", "b"}, held{"a": {"y"}, "b": {"x"}}, []int{1, 0}},
		"to who has most of it": {"x", []string{"a", "bc", "d"}, held{"a": {"x"}, "b": {"x"}, "c": {"x"}},
			[]int{1}},
		"from who has none, for who has": {"xy", []string{"a", "b"}, held{"a": {"y"}}, []int{1, 0}},
		"nothing to read":                {"xy", []string{"", ""}, held{}, []int{0, 1}},
	} {
		var peers []task.PeerID
		for _, p := range c.peers {
			peers = append(peers, task.PeerID(p))
		}
		if got := Nearest(peers, reading(c.reads...), c.holds); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// Every member gets a task of its own, whatever is held, and holds then what that reads.
func TestNearestProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(rapid.StringOfN(rapid.RuneFrom([]rune("abcd")), 0, 3, -1), 1, 12).Draw(t, "reads")
		reads, h := reading(texts...), held{}
		var peers []task.PeerID
		for k := range rapid.IntRange(1, len(texts)).Draw(t, "peers") {
			peer := task.PeerID(fmt.Sprint(k))
			peers = append(peers, peer)
			for _, c := range rapid.StringOfN(rapid.RuneFrom([]rune("abcd")), 0, 2, -1).Draw(t, "holds") {
				h.Note(peer, task.CID(c))
			}
		}
		got := Nearest(peers, reads, h)
		seen := map[int]bool{}
		for k, i := range got {
			if i < 0 || i >= len(reads) || seen[i] {
				t.Fatalf("%v of %d tasks", got, len(reads))
			}
			seen[i] = true
			for _, in := range reads[i] {
				if !h.Holds(peers[k], in.CID) {
					t.Fatalf("it is not told that %s is to hold %s", peers[k], in.CID)
				}
			}
		}
		if len(got) != len(peers) {
			t.Fatalf("%d members, %v", len(peers), got)
		}
	})
}
