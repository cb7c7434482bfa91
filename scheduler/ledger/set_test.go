package ledger

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// TestSetAgainstMap checks the set against a plain map of what is in it.
func TestSetAgainstMap(t *testing.T) {
	const top = 40
	gen := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Range {
		from := rapid.Uint64Range(0, top).Draw(t, "from")
		return Range{from, from + rapid.Uint64Range(0, 6).Draw(t, "length")}
	}), 0, 10)
	rapid.Check(t, func(t *rapid.T) {
		ranges, others := gen.Draw(t, "ranges"), gen.Draw(t, "others")
		s, err := MakeSet(ranges)
		if err != nil {
			t.Fatal(err)
		}
		o, err := MakeSet(others)
		if err != nil {
			t.Fatal(err)
		}
		in, inOther := members(ranges), members(others)
		minus := s.Minus(o)
		union, _ := MakeSet(ranges)
		union.Union(o)
		for i := range uint64(top + 10) {
			if s.Contains(i) != in[i] || minus.Contains(i) != (in[i] && !inOther[i]) ||
				union.Contains(i) != (in[i] || inOther[i]) {
				t.Fatalf("%d: in %v: %v, in %v: %v, minus %v, union %v", i, s, in[i], o, inOther[i], minus, union)
			}
			next := i
			for in[next] {
				next++
			}
			if got := s.NextMissing(i); got != next {
				t.Fatalf("next missing in %v from %d is %d, want %d", s, i, got, next)
			}
		}
		for _, set := range []Set{s, minus, union} {
			if err := set.check(); err != nil {
				t.Fatalf("%v: %v", set, err)
			}
		}
		if s.Count() != uint64(len(in)) {
			t.Fatalf("%v counts %d, want %d", s, s.Count(), len(in))
		}
	})
}

func members(ranges []Range) map[uint64]bool {
	in := map[uint64]bool{}
	for _, r := range ranges {
		for i := r.From; i < r.To; i++ {
			in[i] = true
		}
	}
	return in
}

func TestSetAdd(t *testing.T) {
	var s Set
	if !s.Add(3) || s.Add(3) || !s.Add(5) || !s.Add(4) || len(s) != 1 {
		t.Errorf("got %v", s)
	}
	if s.Add(math.MaxUint64) {
		t.Error("added what has no end")
	}
}

func TestMakeSetRefuses(t *testing.T) {
	if _, err := MakeSet([]Range{{2, 1}}); err == nil {
		t.Error("took a backward range")
	}
	if _, err := MakeSet(make([]Range, MaxRanges+1)); err == nil {
		t.Error("took too many ranges")
	}
}

// must gives what has to succeed.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
