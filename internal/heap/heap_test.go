package heap

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

type item struct{ value, place int }

// Whatever is added, changed and taken out, the heap gives what a sorted list would,
// and each element knows its place.
func TestAgainstSortedList(t *testing.T) {
	byValue := Order[*item]{
		Before: func(a, b **item) bool { return (*a).value < (*b).value },
		Moved:  func(x **item, place int) { (*x).place = place },
	}
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.IntRange(0, 9), 0, 20)
		var h []*item
		for _, v := range values.Draw(t, "first") {
			h = append(h, &item{value: v})
		}
		byValue.Init(h)
		for range rapid.IntRange(0, 30).Draw(t, "steps") {
			k := rapid.IntRange(0, max(0, len(h)-1)).Draw(t, "place")
			switch what := rapid.IntRange(0, 3).Draw(t, "what"); {
			case what == 0 || len(h) == 0:
				byValue.Push(&h, &item{value: rapid.IntRange(0, 9).Draw(t, "value")})
			case what == 1:
				h[k].value = rapid.IntRange(0, 9).Draw(t, "value")
				byValue.Fix(h, k)
			default:
				take := func() *item { return byValue.Remove(&h, k) }
				if what == 3 {
					k, take = 0, func() *item { return byValue.Pop(&h) }
				}
				want := h[k]
				if got := take(); got != want || got.place != -1 {
					t.Fatalf("took out %v, want %v at -1", got, want)
				}
			}
			for i, x := range h {
				if x.place != i {
					t.Fatalf("%v is at %d", x, i)
				}
			}
		}
		want := slices.SortedFunc(slices.Values(h), func(a, b *item) int { return a.value - b.value })
		for _, w := range want {
			if got := byValue.Pop(&h); got.value != w.value {
				t.Fatalf("got %d, want %d", got.value, w.value)
			}
		}
	})
}

func TestMemoryIsNotHeld(t *testing.T) {
	byValue := Order[*item]{Before: func(a, b **item) bool { return (*a).value < (*b).value }}
	var h []*item
	byValue.Push(&h, &item{value: 1})
	byValue.Push(&h, &item{value: 2})
	if got := byValue.Pop(&h); got.value != 1 || h[:2][1] != nil {
		t.Errorf("got %v, and %v is held", got, h[:2][1])
	}
}

// A push and a pop of a slice with room take no memory.
func TestAllocatesNothing(t *testing.T) {
	byValue := Order[item]{Before: func(a, b *item) bool { return a.value < b.value }}
	h := make([]item, 0, 8)
	if n := testing.AllocsPerRun(10, func() {
		byValue.Push(&h, item{value: 2})
		byValue.Push(&h, item{value: 1})
		byValue.Pop(&h)
		byValue.Pop(&h)
	}); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}
