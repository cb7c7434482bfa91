package ledger

import (
	"maps"
	"slices"
	"testing"

	"godwit/task"
	"pgregory.net/rapid"
)

// TestInOrder: rows near each other and rows far apart come out by task, all of
// them and each once.
func TestInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		index := rapid.OneOf(rapid.Uint64Range(0, 20), rapid.Uint64())
		rows := map[uint64]*Row{}
		for _, i := range rapid.SliceOfN(index, 0, 30).Draw(t, "tasks") {
			rows[i] = new(Row)
		}
		var got []uint64
		for _, r := range inOrder(rows) {
			if r.row == nil {
				continue
			}
			if r.row != rows[r.i] {
				t.Fatalf("task %d has another's row", r.i)
			}
			got = append(got, r.i)
		}
		if want := slices.Sorted(maps.Keys(rows)); !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}

// TestMergeOfMany: merging rows together is merging each by itself, and what
// the rows share afterwards neither copy writes to.
func TestMergeOfMany(t *testing.T) {
	ledgerOf := func(workers ...string) *Ledger {
		l := New()
		for _, rec := range records {
			j, err := l.Add(rec)
			if err != nil {
				t.Fatal(err)
			}
			for i := range uint64(3 * arenaSize) {
				for k, w := range workers {
					j.Row(i).AddResult(Attempt{1, i}, result(w, task.Completed, byte(k)))
				}
			}
		}
		return l
	}
	a, b := ledgerOf("a", "c"), ledgerOf("b", "c", "d")
	one := a.Clone()
	for id, j := range one.Jobs {
		for i, row := range b.Jobs[id].Rows {
			if !j.Rows[i].Merge(row) || j.Rows[i].Merge(row) {
				t.Fatal("another's runs are news, once")
			}
		}
	}
	before := b.Digest()
	whole := merged(a, b)
	if !same(whole, one) {
		t.Error("merging a ledger is not merging its rows")
	}
	few := New() // of a few rows, which are looked up and not walked to
	for id, j := range b.Jobs {
		f, err := few.Add(j.Record)
		if err != nil {
			t.Fatal(err)
		}
		f.Rows[7] = j.Rows[7]
		if got := merged(a, few).Jobs[id]; len(got.Rows) != len(j.Rows) || len(got.Rows[7].Results) != 4 ||
			len(got.Rows[8].Results) != 2 {
			t.Errorf("merging one row into many: %d results of it, %d of the next", len(got.Rows[7].Results),
				len(got.Rows[8].Results))
		}
	}
	for _, j := range whole.Jobs {
		for _, row := range j.Rows {
			row.AddResult(Attempt{1, 1}, result("aa", task.Completed, 9))
		}
	}
	if b.Digest() != before || !same(one, merged(a, b)) {
		t.Error("writing to what came of a merge changed a copy")
	}
}
