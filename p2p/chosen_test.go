package p2p

import (
	"encoding/binary"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Of more adverts than are told at once, those of the members heard of first are among them, each is told once,
// and of the others any may be.
func TestFirstHeardAreTold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 40).Draw(t, "adverts")
		most := rapid.IntRange(1, 30).Draw(t, "most")
		begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		var all []shelved
		for _, i := range rapid.Permutation(upTo(n)).Draw(t, "order") {
			all = append(all, shelved{begin.Add(time.Duration(i) * time.Second), binary.BigEndian.AppendUint32(nil, uint32(i))})
		}
		told := map[uint32]bool{}
		for _, b := range chosen(all, most) {
			told[binary.BigEndian.Uint32(b)] = true
		}
		if len(told) != min(n, most) {
			t.Fatalf("%d of %d are told, at most %d", len(told), n, most)
		}
		for i := range min(n, most/2) {
			if !told[uint32(i)] {
				t.Errorf("of %d, at most %d, the one heard of %dth is not told: %v", n, most, i, told)
			}
		}
	})
}

func upTo(n int) (out []int) {
	for i := range n {
		out = append(out, i)
	}
	return out
}
