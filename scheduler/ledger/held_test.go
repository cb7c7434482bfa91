package ledger

import (
	"bytes"
	"crypto/ed25519"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestProven: what is said of delivered tasks counts with the submitter's signature over that
// job, that delivery and exactly these tasks.
func TestProven(t *testing.T) {
	id, other := records[0].ID(), records[1].ID()
	pub, _ := ownerKey.Public().(ed25519.PublicKey)
	held, failed := Set{{0, 3}, {5, 7}}, Set{{2, 3}, {8, 9}}
	for name, tt := range map[string]struct {
		lie  func(f *Facts)
		want bool
	}{
		"as signed":           {func(*Facts) {}, true},
		"another that failed": {func(f *Facts) { f.Done, f.Failed = Set{{1, 3}, {5, 7}}, Set{{0, 1}} }, true},
		"one more":            {func(f *Facts) { f.Done.Add(4) }, false},
		"one less":            {func(f *Facts) { f.Done = Set{{0, 2}, {5, 6}} }, false},
		"others":              {func(f *Facts) { f.Done = Set{{0, 2}, {5, 6}, {9, 10}} }, false},
		"one counted twice":   {func(f *Facts) { f.Failed.Add(0) }, false},
		"another delivery":    {func(f *Facts) { f.Delivery = 5 }, false},
		"not signed":          {func(f *Facts) { f.Signed = nil }, false},
		"signed by another":   {func(f *Facts) { f.Signed = bytes.Repeat([]byte{1}, ed25519.SignatureSize) }, false},
		"of another job":      {func(f *Facts) { f.Signed = saidOf(other, 4, held, nil).Signed }, false},
		"nothing":             {func(f *Facts) { *f = Facts{} }, true},
		"a delivery alone":    {func(f *Facts) { *f = Facts{Delivery: 1} }, false},
	} {
		f := saidOf(id, 4, slices.Clone(held), failed)
		tt.lie(f)
		if got := f.Proven(id, pub); got != tt.want {
			t.Errorf("%s: proven %v", name, got)
		}
	}
	if f := saidOf(id, 4, held, failed); !slices.Equal(f.Failed, Set{{2, 3}}) || !slices.Equal(f.Held(), held) {
		t.Errorf("of what is held %v failed and %v is done", f.Failed, f.Done)
	}
	many := make(Set, MaxRanges) // with every second task failed there would be twice as many ranges
	for i := range many {
		many[i] = Range{uint64(4 * i), uint64(4*i + 3)}
	}
	odd := slices.Clone(many)
	for i := range odd {
		odd[i] = Range{odd[i].From + 1, odd[i].From + 2}
	}
	if f := saidOf(id, 0, many, odd); !f.Proven(id, pub) || len(f.Done) > MaxRanges {
		t.Errorf("%d ranges done and %d failed are not proven", len(f.Done), len(f.Failed))
	}
}

// TestHeldDigests: sets of the same tasks have one digest, however they came to be.
func TestHeldDigests(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tasks := rapid.SliceOfN(rapid.Uint64Range(0, 30), 0, 30).Draw(t, "tasks")
		var a, b Set
		for _, i := range tasks {
			a.Add(i)
		}
		for _, i := range rapid.Permutation(tasks).Draw(t, "order") {
			b.Add(i)
		}
		x, err := HeldOf(3, a)
		y, err2 := HeldOf(3, b)
		if err != nil || err2 != nil || x.Digest != y.Digest || x.Count != a.Count() {
			t.Fatalf("%v and %v: %+v, %+v, %v, %v", a, b, x, y, err, err2)
		}
		a.Add(40)
		if z, _ := HeldOf(3, a); z.Digest == x.Digest {
			t.Fatal("one more task, and the same digest")
		}
	})
}
