package ledger

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
)

// A Range is the task indices From to To-1.
type Range struct {
	From uint64 `cbor:"1,keyasint"`
	To   uint64 `cbor:"2,keyasint"`
}

// A Set is a set of task indices, as the ranges that cover it: sorted, not
// empty, neither overlapping nor touching. The zero value is empty. A sweep
// that ends more or less in order needs a handful of ranges however long it is.
type Set []Range

// MaxRanges bounds a set that is decoded. More cannot come from honest use:
// each gap is a task that is still running or waiting while later ones ended.
const MaxRanges = 1 << 16

// MakeSet makes a set of ranges in any order, overlapping or not. It refuses
// backward ranges and more than MaxRanges; the ranges stay the caller's.
func MakeSet(ranges []Range) (Set, error) {
	if len(ranges) > MaxRanges {
		return nil, fmt.Errorf("ledger: a set of %d ranges, the most is %d", len(ranges), MaxRanges)
	}
	for _, r := range ranges {
		if r.From > r.To {
			return nil, fmt.Errorf("ledger: range from %d to %d runs backwards", r.From, r.To)
		}
	}
	if !slices.IsSortedFunc(ranges, compareRanges) {
		ranges = slices.Clone(ranges)
		slices.SortFunc(ranges, compareRanges) // each put in where it belongs would move all behind it
	}
	return setOf(ranges), nil
}

func compareRanges(a, b Range) int { return cmp.Compare(a.From, b.From) }

// setOf makes a set of ranges that are sorted by From.
func setOf(ranges []Range) Set {
	s := make(Set, 0, len(ranges))
	for _, r := range ranges {
		s.AddRange(r) // at the end, or it touches the last
	}
	return s
}

// Add puts i in the set and says whether it was not there. The largest uint64
// cannot be held and is left out: no sweep is that long.
func (s *Set) Add(i uint64) bool {
	if i == math.MaxUint64 || s.Contains(i) {
		return false
	}
	s.AddRange(Range{i, i + 1})
	return true
}

// AddRange puts all of r in the set. An empty range changes nothing.
func (s *Set) AddRange(r Range) {
	if r.From >= r.To {
		return
	}
	set := *s
	if n := len(set); n == 0 || set[n-1].To < r.From { // most sets are made in order
		*s = append(set, r)
		return
	}
	// set[lo:hi] are the ranges that r overlaps or touches.
	lo := sort.Search(len(set), func(k int) bool { return set[k].To >= r.From })
	hi := lo
	for hi < len(set) && set[hi].From <= r.To {
		r.From, r.To = min(r.From, set[hi].From), max(r.To, set[hi].To)
		hi++
	}
	*s = slices.Replace(set, lo, hi, r)
}

// Union puts all of o in the set.
func (s *Set) Union(o Set) {
	if len(o) <= 1 {
		for _, r := range o {
			s.AddRange(r)
		}
		return
	}
	both := slices.Concat(*s, o)
	slices.SortFunc(both, compareRanges)
	*s = setOf(both)
}

// Contains says whether i is in the set.
func (s Set) Contains(i uint64) bool {
	k := s.after(i)
	return k < len(s) && s[k].From <= i
}

// NextMissing returns the smallest index from i on that is not in the set.
func (s Set) NextMissing(i uint64) uint64 {
	if k := s.after(i); k < len(s) && s[k].From <= i {
		return s[k].To
	}
	return i
}

// Count returns how many indices the set has.
func (s Set) Count() uint64 {
	var n uint64
	for _, r := range s {
		n += r.To - r.From
	}
	return n
}

// Minus returns what is in s and not in o.
func (s Set) Minus(o Set) Set {
	var out Set
	for _, r := range s {
		for from := o.NextMissing(r.From); from < r.To; {
			to := r.To
			if k := o.after(from); k < len(o) {
				to = min(to, o[k].From)
			}
			out = append(out, Range{from, to})
			from = o.NextMissing(to)
		}
	}
	return out
}

// after returns the first range that does not end before or at i.
func (s Set) after(i uint64) int {
	return sort.Search(len(s), func(k int) bool { return s[k].To > i })
}

// check says whether a decoded set keeps the invariant of the type.
func (s Set) check() error {
	if len(s) > MaxRanges {
		return fmt.Errorf("ledger: a set of %d ranges, the most is %d", len(s), MaxRanges)
	}
	for k, r := range s {
		if r.From >= r.To || k > 0 && s[k-1].To >= r.From {
			return fmt.Errorf("ledger: range %d of a set, %d to %d, is empty or out of order", k, r.From, r.To)
		}
	}
	return nil
}
