package scheduler

import (
	"maps"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"godwit/scheduler/message"
)

// A page of rows is what all of them in order have there.
func TestPageOf(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		index := rapid.OneOf(rapid.Uint64Range(0, 50), rapid.Uint64Range(math.MaxUint64-20, math.MaxUint64), rapid.Uint64())
		rows := map[uint64]bool{}
		for _, i := range rapid.SliceOfN(index, 0, 60).Draw(t, "rows") {
			rows[i] = true
		}
		page := message.Page{From: index.Draw(t, "from"), Limit: rapid.IntRange(1, 80).Draw(t, "limit")}
		all := slices.Sorted(maps.Keys(rows))
		from, _ := slices.BinarySearch(all, page.From)
		want := all[from:min(len(all), from+page.Limit)]
		if got := pageOf(rows, page); !slices.Equal(got, want) {
			t.Errorf("from %d %d rows: got %v, want %v", page.From, page.Limit, got, want)
		}
	})
}
