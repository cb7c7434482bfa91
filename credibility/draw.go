package credibility

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"slices"
)

// drawLabel keeps these draws apart from whatever else is drawn with a key.
const drawLabel = "godwit audit 1"

// Draw says which of n intervals of a task are audited: share of them, where that is no
// whole number one more or less by chance. It depends on the submitter's key, which the worker
// does not know, and on root, which the worker has signed before: so nobody can choose the
// intervals, and whoever is told the key later can draw again. They are in ascending order.
func Draw(key [32]byte, task uint64, root [32]byte, n int, share float64) []int {
	if n < 1 {
		return nil
	}
	s := newStream(key, task, root)
	want := min(max(share, 0), 1) * float64(n)
	m := int(want)
	if s.fraction() < want-float64(m) {
		m++
	}
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	for i := range m {
		j := i + int(s.below(uint64(n-i)))
		all[i], all[j] = all[j], all[i]
	}
	slices.Sort(all[:m])
	return all[:m]
}

// Pick draws up to k of n places, in the order in which they are drawn, of those that ok allows. It
// depends on the key as Draw does: who does not have it cannot tell which are next. It takes about k
// steps where most are allowed.
func Pick(key [32]byte, task uint64, root [32]byte, n, k int, ok func(int) bool) []int {
	s := newStream(key, task, root)
	moved := map[int]int{} // by place, what stands there in place of its own number
	at := func(i int) int {
		if v, is := moved[i]; is {
			return v
		}
		return i
	}
	var out []int
	for i := 0; i < n && len(out) < k; i++ {
		j := i + int(s.below(uint64(n-i)))
		v := at(j)
		moved[j] = at(i)
		if ok(v) {
			out = append(out, v)
		}
	}
	return out
}

// A stream is of random numbers that anybody with the key draws alike: HMAC-SHA-256 in
// counter mode.
type stream struct {
	seed  [32]byte
	block uint64
	left  []byte
}

func newStream(key [32]byte, task uint64, root [32]byte) *stream {
	mac := hmac.New(sha256.New, key[:])
	mac.Write([]byte(drawLabel))
	mac.Write(binary.BigEndian.AppendUint64(nil, task))
	mac.Write(root[:])
	return &stream{seed: [32]byte(mac.Sum(nil))}
}

func (s *stream) next() uint64 {
	const size = 8
	if len(s.left) < size {
		mac := hmac.New(sha256.New, s.seed[:])
		mac.Write(binary.BigEndian.AppendUint64(nil, s.block))
		s.block++
		s.left = mac.Sum(nil)
	}
	v := binary.BigEndian.Uint64(s.left)
	s.left = s.left[size:]
	return v
}

// fraction returns a number from 0 to below 1.
func (s *stream) fraction() float64 {
	const bits = 53 // of a float64's fraction
	return float64(s.next()>>(64-bits)) / (1 << bits)
}

// Lot is the number, from 0 to below 1, by which Draw chooses a task that is one interval: where it is
// below the share.
func Lot(key [32]byte, task uint64, root [32]byte) float64 {
	s := newStream(key, task, root)
	return s.fraction()
}

// below returns a number from 0 to n-1, all as likely; n is above 0.
func (s *stream) below(n uint64) uint64 {
	over := -n % n // so many of the smallest would come once too often
	for {
		if v := s.next(); v >= over {
			return v % n
		}
	}
}
