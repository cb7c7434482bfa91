package ledger

import (
	"cmp"
	"errors"
	"slices"
	"testing"

	"godwit/task"
)

// TestBadStates: a state that a worker could not go on from is not offered again, of as many
// checkpoints as are heard in whatever order; one of less work takes its place. With too many
// a task has no states any more.
func TestBadStates(t *testing.T) {
	state := func(n int, fuel uint64) *Checkpoint {
		return &Checkpoint{CID: task.RawCID([]byte{byte(n)}), Fuel: fuel}
	}
	word := func(c *Checkpoint) task.Voucher { return task.Voucher{Receipt: task.Receipt{From: c.CID}} }
	var r Row
	bad, good := state(1, 1<<60), state(2, 5)
	r.Save(state(3, 4))
	r.Save(bad)
	if r.VoidState(word(good)) || !r.VoidState(word(bad)) || r.VoidState(word(bad)) || r.State() != nil {
		t.Fatalf("what nobody was to go on from is void: %+v", r)
	}
	if r.Save(bad) || !r.Save(good) || r.State() != good {
		t.Fatalf("after the bad one the row has %+v", r.Best)
	}
	late := Row{Best: bad}
	late.Merge(&r)
	r.Merge(&Row{Best: bad})
	for name, row := range map[string]*Row{"who knows": &r, "who hears of it": &late} {
		if got := must(DecodeRow(must(row.Encode()))); got.State() == nil || got.State().CID != good.CID {
			t.Errorf("%s has %+v", name, got.State())
		}
	}
	other := Row{Best: state(7, 7)} // another side of a split, which finds another state bad
	other.VoidState(word(other.Best))
	other.Save(bad)
	r.Merge(&other)
	if r.State() != nil || !r.Save(good) || r.State() != good || r.Round != 2 || len(r.Bad) != 2 {
		t.Errorf("after another side's %+v", r)
	}
	for n := range MaxBad {
		c := state(100+n, 9)
		r.Save(c)
		r.VoidState(word(c))
	}
	if len(r.Bad) != MaxBad || r.State() != nil || r.Save(state(99, 9)) {
		t.Errorf("with %d bad states it has %+v", len(r.Bad), r.State())
	}
	if _, err := DecodeRow(must(r.Encode())); err != nil {
		t.Error(err)
	}
	for name, row := range map[string]Row{"a round without bad states": {Round: 1},
		"a state twice": {Bad: []task.Voucher{word(bad), word(bad)}}} {
		if _, err := DecodeRow(must(row.Encode())); err == nil {
			t.Errorf("%s: it is read", name)
		}
	}
}

// TestVet: of a row from elsewhere stays what is borne out, or known here.
func TestVet(t *testing.T) {
	cid := func(n byte) task.CID { return task.RawCID([]byte{n}) }
	word := func(n byte) task.Voucher { return task.Voucher{Worker: "w", Receipt: task.Receipt{From: cid(n)}} }
	words := func(ns ...byte) (out []task.Voucher) {
		for _, n := range ns {
			out = append(out, word(n))
		}
		slices.SortFunc(out, func(a, b task.Voucher) int { return cmp.Compare(a.Receipt.From, b.Receipt.From) })
		return out
	}
	state := func(n byte, fuel uint64) *Checkpoint { return &Checkpoint{CID: cid(n), Fuel: fuel} }
	lie := errors.New("a lie")
	good := func(c *Checkpoint) error {
		if c.CID != cid(1) {
			return lie
		}
		return nil
	}
	bad := func(v *task.Voucher) error {
		if v.Receipt.From != cid(2) {
			return lie
		}
		return nil
	}
	for name, c := range map[string]struct {
		theirs Row
		ours   *Row
		bads   int
		round  uint64
		best   bool
	}{
		"all true":           {Row{Best: state(1, 1), Bad: words(2), Round: 1}, nil, 1, 1, true},
		"all lies":           {Row{Best: state(3, 1), Bad: words(4, 5), Round: 2}, nil, 0, 0, false},
		"many lies":          {Row{Bad: words(2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18)}, nil, 1, 0, false},
		"known here":         {Row{Bad: words(6), Round: 1}, &Row{Bad: words(6), Round: 1}, 1, 1, false},
		"worse than here":    {Row{Best: state(3, 1)}, &Row{Best: state(1, 9)}, 0, 0, true},
		"of an earlier time": {Row{Best: state(3, 1)}, &Row{Bad: words(6), Round: 1}, 0, 0, true},
		"better than here":   {Row{Best: state(3, 10)}, &Row{Best: state(1, 9)}, 0, 0, false},
	} {
		err := c.theirs.Vet(c.ours, good, bad)
		if r := &c.theirs; len(r.Bad) != c.bads || r.Round != c.round || (r.Best != nil) != c.best || err != nil && c.best {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}
