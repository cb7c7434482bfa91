package trials

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// numbers draws sets of numbers of one magnitude, often with repetitions.
func numbers(t *rapid.T, least int) []float64 {
	scale := math.Pow(10, float64(rapid.IntRange(-12, 12).Draw(t, "scale")))
	offset := rapid.SampledFrom([]float64{0, 1, -1e3, 1e6}).Draw(t, "offset")
	one := rapid.OneOf(rapid.Float64Range(-1, 1), rapid.Map(rapid.IntRange(-5, 5), func(i int) float64 { return float64(i) }))
	out := rapid.SliceOfN(one, least, 60).Draw(t, "numbers")
	for i := range out {
		out[i] = scale * (out[i] + offset)
	}
	return out
}

func summaryOf(xs []float64) *Summary {
	s := &Summary{}
	for _, x := range xs {
		s.Add(x)
	}
	return s
}

// close reports whether two figures of numbers of that magnitude agree to ten digits of it.
func closeTo(a, b, magnitude float64) bool { return math.Abs(a-b) <= 1e-10*magnitude+1e-300 }

// The summary of a set has the mean, the deviation and the interval of the textbook's two passes.
func TestSummaryMatchesTwoPasses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		xs := numbers(t, 2)
		s, n := summaryOf(xs), float64(len(xs))
		mean, magnitude := 0.0, 0.0
		for _, x := range xs {
			mean += x / n
			magnitude = max(magnitude, math.Abs(x))
		}
		squares := 0.0
		for _, x := range xs {
			squares += (x - mean) * (x - mean)
		}
		deviation := math.Sqrt(squares / (n - 1))
		half := StudentQuantile(0.975, uint64(len(xs)-1)) * deviation / math.Sqrt(n)
		if s.N() != uint64(len(xs)) || !closeTo(s.Mean(), mean, magnitude) || !closeTo(s.Deviation(), deviation, magnitude) ||
			!closeTo(s.HalfWidth(), half, 10*magnitude) {
			t.Fatalf("%d %v ± %v, deviation %v; want %v %v ± %v, deviation %v", s.N(), s.Mean(), s.HalfWidth(), s.Deviation(),
				n, mean, half, deviation)
		}
		if s.Least() != slices.Min(xs) || s.Greatest() != slices.Max(xs) {
			t.Fatalf("least %v, greatest %v", s.Least(), s.Greatest())
		}
	})
}

// Parts of a set, merged in any order, give what the whole gives; histograms agree exactly.
func TestMergeIsIndependentOfOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		xs := numbers(t, 1)
		whole := summaryOf(xs)
		mixed := rapid.Permutation(xs).Draw(t, "order")
		parts := make([]Summary, rapid.IntRange(1, 5).Draw(t, "parts"))
		for _, x := range mixed {
			parts[rapid.IntRange(0, len(parts)-1).Draw(t, "part")].Add(x)
		}
		var merged Summary
		for i := range parts {
			merged.Merge(&parts[i])
		}
		magnitude := max(math.Abs(whole.Least()), math.Abs(whole.Greatest()))
		if merged.N() != whole.N() || !closeTo(merged.Mean(), whole.Mean(), magnitude) ||
			whole.N() > 1 && !closeTo(merged.Deviation(), whole.Deviation(), magnitude) ||
			merged.Least() != whole.Least() || merged.Greatest() != whole.Greatest() {
			t.Fatalf("merged %+v, whole %+v", merged, *whole)
		}
		a, b := merged.Histogram(), whole.Histogram()
		if !slices.Equal(a.Edges(), b.Edges()) || !slices.Equal(a.Counts(), b.Counts()) {
			t.Fatalf("merged histogram %v %v, whole %v %v", a.Edges(), a.Counts(), b.Edges(), b.Counts())
		}
		before := whole.N()
		whole.Merge(&Summary{})
		if whole.N() != before {
			t.Fatal("the empty set adds something")
		}
	})
}

// A merged summary shares no memory with the other one.
func TestMergedSummaryStaysApart(t *testing.T) {
	from := summaryOf([]float64{1, 2, 3})
	var to Summary
	to.Merge(from)
	to.Add(2.5)
	h := from.Histogram()
	total := uint64(0)
	for _, c := range h.Counts() {
		total += c
	}
	if from.N() != 3 || total != 3 {
		t.Fatalf("the merged summary has %d numbers, its histogram %d", from.N(), total)
	}
}

// Numbers whose squares could overflow are refused, and what is not a number.
func TestAddRefusesWhatIsNotFinite(t *testing.T) {
	var s Summary
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e141, -1e200} {
		if s.Add(x) || s.N() != 0 {
			t.Errorf("%v was added", x)
		}
	}
	for _, x := range []float64{MaxMagnitude, -MaxMagnitude, math.SmallestNonzeroFloat64, math.Copysign(0, -1)} {
		if !s.Add(x) {
			t.Errorf("%v was not added", x)
		}
	}
	if math.IsInf(s.HalfWidth(), 0) || math.IsNaN(s.HalfWidth()) {
		t.Errorf("half width %v", s.HalfWidth())
	}
}

// Without two numbers nothing is known of the mean's error.
func TestFewNumbersHaveNoInterval(t *testing.T) {
	var s Summary
	for range 2 {
		if !math.IsInf(s.HalfWidth(), 1) || !math.IsInf(s.Deviation(), 1) {
			t.Errorf("of %d numbers: half width %v, deviation %v", s.N(), s.HalfWidth(), s.Deviation())
		}
		s.Add(4)
	}
	if s.HalfWidth() != 0 || s.Deviation() != 0 {
		t.Errorf("of two equal numbers: half width %v, deviation %v", s.HalfWidth(), s.Deviation())
	}
}

// A million numbers far from 0 keep the digits of their deviation, which sums of squares would lose.
func TestSummaryOfAMillionKeepsDigits(t *testing.T) {
	var s Summary
	for i := range 1_000_000 {
		s.Add(1e9 + float64(i%2))
	}
	if got, want := s.Deviation(), 0.5*math.Sqrt(1e6/(1e6-1)); math.Abs(got-want) > 1e-9 {
		t.Errorf("deviation %.12f, want %.12f", got, want)
	}
}

func BenchmarkAdd(b *testing.B) {
	var s Summary
	x := 0.5
	for b.Loop() {
		x = 3.9 * x * (1 - x)
		s.Add(x)
	}
}
