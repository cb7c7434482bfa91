package sim

import "math/bits"

// A hostSet has a bit for each host, and one for each word of those that is not
// 0, so that a set of few is gone through fast.
type hostSet struct{ bits, words []uint64 }

func newHostSet(n int) hostSet {
	words := (n + 63) / 64
	return hostSet{make([]uint64, words), make([]uint64, (words+63)/64)}
}

func (s *hostSet) has(i int32) bool { return s.bits[i/64]>>(i%64)&1 == 1 }

func (s *hostSet) set(i int32) {
	k := i / 64
	s.bits[k] |= 1 << (i % 64)
	s.words[k/64] |= 1 << (k % 64)
}

func (s *hostSet) clear(i int32) {
	k := i / 64
	if s.bits[k] &^= 1 << (i % 64); s.bits[k] == 0 {
		s.words[k/64] &^= 1 << (k % 64)
	}
}

// each calls f with every host in the set, in order.
func (s *hostSet) each(f func(i int32)) {
	for j, words := range s.words {
		for ; words != 0; words &= words - 1 {
			k := j*64 + bits.TrailingZeros64(words)
			for word := s.bits[k]; word != 0; word &= word - 1 {
				f(int32(k*64 + bits.TrailingZeros64(word)))
			}
		}
	}
}

// next is the first in the set from i on, none if there is none.
func (s *hostSet) next(i int32) int32 {
	k := int(i / 64)
	if k >= len(s.bits) {
		return none
	}
	if word := s.bits[k] >> (i % 64); word != 0 {
		return i + int32(bits.TrailingZeros64(word))
	}
	k++
	for j := k / 64; j < len(s.words); j++ {
		words := s.words[j]
		if j == k/64 {
			words &= ^uint64(0) << (k % 64)
		}
		if words != 0 {
			k := j*64 + bits.TrailingZeros64(words)
			return int32(k*64 + bits.TrailingZeros64(s.bits[k]))
		}
	}
	return none
}
