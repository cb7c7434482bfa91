package trials

import (
	"math"
	"math/bits"
	"strings"
)

// MaxBins is the maximum number of bins.
const MaxBins = 20

// A Histogram counts numbers in intervals of equal width. The width is a power of two, and all edges are multiples of it.
// It is the smallest width with at most MaxBins bins and exact edges, so it depends on the least and the greatest number
// alone, not on the order of the numbers or of merges. When a number falls outside, pairs of neighboring bins are joined.
// All counts stay exact, because each edge of the wider bins was an edge of the narrower ones. Bins of whole numbers are at
// least 1 wide, so no bin is empty only because it lies between two whole numbers. The same holds for multiples of other
// powers of two.
//
// The zero value has no numbers.
type Histogram struct {
	least, greatest float64
	n               uint64 // number of numbers while all are equal, else 0
	grain           int    // all numbers are multiples of 2^grain; math.MaxInt if all are 0
	exponent        int    // bins are 2^exponent wide
	first           int64  // the first bin begins at first * 2^exponent
	counts          []uint64
}

// Edges returns the bounds of the bins, one more than there are bins: bin i holds the numbers from edge i up to but
// not including edge i+1. If all numbers are equal, there is one bin whose two edges are that number. Without numbers
// there are no edges.
func (h *Histogram) Edges() []float64 {
	switch {
	case h.n > 0:
		return []float64{h.least, h.least}
	case len(h.counts) == 0:
		return nil
	}
	exponent, first, counts := h.coarse()
	edges := make([]float64, len(counts)+1)
	for i := range edges {
		edges[i] = math.Ldexp(float64(first+int64(i)), exponent)
	}
	return edges
}

// Counts returns the number of numbers in each bin. The first and the last bin are never empty.
func (h *Histogram) Counts() []uint64 {
	if h.n > 0 {
		return []uint64{h.n}
	}
	_, _, counts := h.coarse()
	return counts
}

// coarse returns the bins, joined until they are not narrower than the grain.
func (h *Histogram) coarse() (exponent int, first int64, counts []uint64) {
	exponent, first, counts = h.exponent, h.first, append([]uint64(nil), h.counts...)
	if len(counts) == 0 || h.grain <= exponent {
		return exponent, first, counts
	}
	by := h.grain - exponent
	joined := make([]uint64, (first+int64(len(counts))-1)>>by-first>>by+1)
	for i, c := range counts {
		joined[(first+int64(i))>>by-first>>by] += c
	}
	return h.grain, first >> by, joined
}

// grainOf returns the largest n such that x is a multiple of 2^n; math.MaxInt for 0.
func grainOf(x float64) int {
	const digits = 53
	if x == 0 {
		return math.MaxInt
	}
	fraction, exponent := math.Frexp(x)
	return exponent - digits + bits.TrailingZeros64(uint64(math.Abs(math.Ldexp(fraction, digits))))
}

// heights are the characters of a Sparkline, by the count's share of the largest one.
var heights = []rune("▁▂▃▄▅▆▇█")

// Sparkline returns the histogram as one character a bin. The height is proportional to the count, rounded up, and a
// space is an empty bin.
func (h *Histogram) Sparkline() string {
	counts := h.Counts()
	most := uint64(0)
	for _, c := range counts {
		most = max(most, c)
	}
	var b strings.Builder
	for _, c := range counts {
		if c == 0 {
			b.WriteByte(' ')
			continue
		}
		share := float64(c) / float64(most)
		b.WriteRune(heights[min(len(heights), max(1, int(math.Ceil(share*float64(len(heights))))))-1])
	}
	return b.String()
}

// add counts a finite number.
func (h *Histogram) add(x float64) {
	switch {
	case h.n == 0 && len(h.counts) == 0:
		h.least, h.greatest, h.n, h.grain = x, x, 1, grainOf(x)
	case h.n > 0 && x == h.least:
		h.n++
	default:
		h.cover(min(h.least, x), max(h.greatest, x))
		h.counts[h.bin(x)]++
		h.grain = min(h.grain, grainOf(x))
	}
}

// merge counts all numbers of o.
func (h *Histogram) merge(o *Histogram) {
	switch {
	case o.n == 0 && len(o.counts) == 0:
		return
	case h.n == 0 && len(h.counts) == 0:
		*h = *o
		h.counts = append([]uint64(nil), o.counts...)
		return
	case h.n > 0 && o.n > 0 && h.least == o.least:
		h.n += o.n
		return
	}
	h.grain = min(h.grain, o.grain)
	other := *o
	other.counts = append([]uint64(nil), o.counts...)
	least, greatest := min(h.least, o.least), max(h.greatest, o.greatest)
	h.cover(least, greatest)
	other.cover(least, greatest)
	for i, c := range other.counts {
		h.counts[i] += c
	}
}

// cover widens the bins as far as needed, so that they reach from one number to a greater one.
func (h *Histogram) cover(least, greatest float64) {
	if h.n == 0 && least == h.least && greatest == h.greatest {
		return
	}
	exponent, first, bins := grid(least, greatest)
	counts := make([]uint64, bins)
	if h.n > 0 {
		counts[int64(multiple(h.least, exponent))-first] = h.n
	}
	for i, c := range h.counts {
		counts[(h.first+int64(i))>>(exponent-h.exponent)-first] += c
	}
	h.least, h.greatest, h.n = least, greatest, 0
	h.exponent, h.first, h.counts = exponent, first, counts
}

// bin returns the bin of a number that the bins cover.
func (h *Histogram) bin(x float64) int64 {
	return int64(multiple(x, h.exponent)) - h.first
}

// narrowest is the binary logarithm of the least width of bins.
const narrowest = -1000

// grid returns the narrowest bins between two different numbers: the binary logarithm of their width, the first
// multiple of the width that is an edge, and their number. Edges are exact: they are less than 2^53 widths from 0.
func grid(least, greatest float64) (exponent int, first int64, bins int64) {
	const exact = 1 << 53
	_, exponent = math.Frexp(greatest - least)
	// MaxBins is less than 2^5, so bins of 2^-6 of the distance are too many.
	for exponent = max(exponent-6, narrowest); ; exponent++ {
		from, to := multiple(least, exponent), multiple(greatest, exponent)
		if to-from < MaxBins && max(-from, to) < exact {
			return exponent, int64(from), int64(to-from) + 1
		}
	}
}

// multiple returns the largest whole number n with n * 2^exponent <= x.
func multiple(x float64, exponent int) float64 {
	n := math.Floor(math.Ldexp(x, -exponent))
	if x < 0 && n == 0 { // the quotient is too small for a float64
		return -1
	}
	return n
}
