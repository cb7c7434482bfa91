package trials

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Counting the numbers again between the edges gives the counts, and narrower bins would be too many.
func TestHistogramCanBeChecked(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		xs := numbers(t, 2)
		s := summaryOf(xs)
		h := s.Histogram()
		edges, counts := h.Edges(), h.Counts()
		if len(edges) != len(counts)+1 || len(counts) > MaxBins {
			t.Fatalf("%d edges, %d counts", len(edges), len(counts))
		}
		again := make([]uint64, len(counts))
		for _, x := range xs {
			i, found := slices.BinarySearch(edges, x)
			if !found {
				i--
			}
			again[min(i, len(again)-1)]++ // of equal numbers both edges are the number
		}
		if !slices.Equal(again, counts) {
			t.Fatalf("edges %v, counts %v, counted again %v", edges, counts, again)
		}
		if counts[0] == 0 || counts[len(counts)-1] == 0 {
			t.Fatalf("an empty bin at the end: %v", counts)
		}
		if s.Least() == s.Greatest() {
			return
		}
		if width := edges[1] - edges[0]; !slices.ContainsFunc(xs, func(x float64) bool { return math.Mod(x, width) != 0 }) {
			return // narrower bins could only be empty
		}
		half := (edges[1] - edges[0]) / 2
		bins := math.Floor(s.Greatest()/half) - math.Floor(s.Least()/half) + 1
		if exact := max(math.Abs(edges[0]), math.Abs(edges[len(edges)-1])) / half; bins <= MaxBins && exact < 1<<53 {
			t.Fatalf("bins of half the width %v would be %v", 2*half, bins)
		}
	})
}

// Widths are powers of two, and edges their multiples.
func TestHistogramEdges(t *testing.T) {
	for _, tt := range []struct {
		name   string
		xs     []float64
		edges  []float64
		counts []uint64
		line   string
	}{
		{"no number", nil, nil, nil, ""},
		{"one number", []float64{3}, []float64{3, 3}, []uint64{1}, "█"},
		{"equal numbers", []float64{3, 3, 3}, []float64{3, 3}, []uint64{3}, "█"},
		{"whole numbers", []float64{1, 2, 2, 18}, []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19},
			[]uint64{1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, "▄█               ▄"},
		{"widened", []float64{0, 16, 24, 1}, []float64{0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26},
			[]uint64{2, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1}, "█       ▄   ▄"},
		{"two whole numbers", []float64{-1, 1}, []float64{-1, 0, 1, 2}, []uint64{1, 0, 1}, "█ █"},
		{"across zero", []float64{-1, .125}, []float64{-1, -.875, -.75, -.625, -.5, -.375, -.25, -.125, 0, .125, .25},
			[]uint64{1, 0, 0, 0, 0, 0, 0, 0, 0, 1}, "█        █"},
		{"neighbors", []float64{1, math.Nextafter(1, 2)}, []float64{1, math.Nextafter(1, 2), 1 + 2*0x1p-52}, []uint64{1, 1}, "██"},
		{"least numbers", []float64{0, math.SmallestNonzeroFloat64}, []float64{0, 0x1p-1000}, []uint64{2}, "█"},
		{"hundreds", []float64{0, 400, 800, 1600}, []float64{0, 128, 256, 384, 512, 640, 768, 896, 1024, 1152, 1280, 1408,
			1536, 1664}, []uint64{1, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1}, "█  █  █     █"},
	} {
		h := summaryOf(tt.xs).Histogram()
		if !slices.Equal(h.Edges(), tt.edges) || !slices.Equal(h.Counts(), tt.counts) || h.Sparkline() != tt.line {
			t.Errorf("%s: edges %v, counts %v, %q", tt.name, h.Edges(), h.Counts(), h.Sparkline())
		}
	}
}

// The numbers 1 and 1 + 10^-15 of magnitude 10^140 and of magnitude 10^-300 are counted, however far apart.
func TestHistogramOfAllMagnitudes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64Range(-MaxMagnitude, MaxMagnitude)
		tiny := rapid.Map(rapid.Float64Range(-1, 1), func(f float64) float64 { return f * 1e-300 })
		xs := rapid.SliceOfN(rapid.OneOf(x, tiny, rapid.Float64Range(-10, 10)), 1, 30).Draw(t, "numbers")
		h := summaryOf(xs).Histogram()
		total := uint64(0)
		for _, c := range h.Counts() {
			total += c
		}
		if total != uint64(len(xs)) || len(h.Counts()) > MaxBins {
			t.Fatalf("%d of %d numbers in %d bins", total, len(xs), len(h.Counts()))
		}
	})
}
