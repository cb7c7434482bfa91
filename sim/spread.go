package sim

import (
	"math"
	"slices"
)

// A spread gathers times in seconds. It keeps exactKept of them as they are;
// when more come it counts them in bins of 512 to an octave, so that a quantile
// is off by at most a thousandth.
type spread struct {
	n      uint64
	sum    float64
	most   float64
	values []float64   // the last ones
	full   [][]float64 // those before them, chunkKept each: none is copied as they become more
	bins   []uint64
}

const (
	exactKept = 1 << 20
	chunkKept = 1 << 12 // 32 KiB; divides exactKept
	binBits   = 9
	binShift  = 52 - binBits
)

// The bins reach from a nanosecond to longest, and what is less or more is in
// the first or last.
var (
	firstBin = int(math.Float64bits(1e-9) >> binShift)
	binCount = int(math.Float64bits(longest.Seconds())>>binShift) - firstBin + 1
)

func (s *spread) add(v float64) {
	s.n++
	s.sum += v
	s.most = max(s.most, v)
	if s.bins != nil {
		s.count(v)
		return
	}
	if s.values = append(s.values, v); len(s.values) == chunkKept {
		s.fill()
	}
}

// fill puts a full chunk aside, or all of them into bins.
func (s *spread) fill() {
	s.full = append(s.full, s.values)
	if s.n < exactKept {
		s.values = make([]float64, 0, chunkKept)
		return
	}
	s.bins = make([]uint64, binCount)
	for _, chunk := range s.full {
		for _, v := range chunk {
			s.count(v)
		}
	}
	s.values, s.full = nil, nil
}

func (s *spread) count(v float64) {
	s.bins[min(binCount-1, max(0, int(math.Float64bits(v)>>binShift)-firstBin))]++
}

// of describes the times: quantiles are the least values with so large a share
// at or below.
func (s *spread) of() Spread {
	if s.n == 0 {
		return Spread{}
	}
	s.values, s.full = slices.Concat(append(s.full, s.values)...), nil
	slices.Sort(s.values)
	return Spread{N: s.n, Mean: s.sum / float64(s.n), P50: s.quantile(0.5), P95: s.quantile(0.95), P99: s.quantile(0.99),
		Max: s.most}
}

func (s *spread) quantile(p float64) float64 {
	rank := max(1, uint64(math.Ceil(p*float64(s.n))))
	if s.bins == nil {
		return s.values[rank-1]
	}
	for i, n := range s.bins {
		if n >= rank {
			low := math.Float64frombits(uint64(firstBin+i) << binShift)
			high := math.Float64frombits(uint64(firstBin+i+1) << binShift)
			return min(s.most, (low+high)/2)
		}
		rank -= n
	}
	return s.most
}
