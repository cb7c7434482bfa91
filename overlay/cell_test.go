package overlay

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"godwit/task"
)

// TestCellNumbers: the number of a member is what docs/protocol.md says, on every machine.
func TestCellNumbers(t *testing.T) {
	_, peer := someone(1)
	const want = 0xa6e4825465b5120c
	if got := CellNumber(commons, peer); got != want {
		t.Errorf("the number is %#x, want %#x", got, uint64(want))
	}
	for bits, want := range []string{"whole", "1", "10", "101", "1010"} {
		if got := CellOf(0xa6e4825465b5120c, uint8(bits)).String(); got != want {
			t.Errorf("%d bits: %s, want %s", bits, got, want)
		}
	}
}

// TestCellsNest: a cell is the two halves of it, its parent holds it, and what is not a cell
// is told.
func TestCellsNest(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		number := rapid.Uint64().Draw(rt, "number")
		c := CellOf(number, uint8(rapid.IntRange(0, MaxCellBits).Draw(rt, "bits")))
		other := rapid.Uint64().Draw(rt, "other")
		half := c.Half(number)
		switch {
		case c.Check() != nil || !c.Holds(number) || !c.Within(c) || !c.Within(Cell{}):
			rt.Fatalf("%s of %x: %v", c, number, c.Check())
		case !half.Within(c) || !half.Holds(number) || half.Parent() != c && half != c:
			rt.Fatalf("%s is the half of %s", half, c)
		case half != c && c.Holds(other) && half.Holds(other) == half.Sibling().Holds(other):
			rt.Fatalf("%x of %s is in both halves, or in none", other, c)
		case c.Holds(other) != CellOf(other, c.Bits).Within(c):
			rt.Fatalf("%x in %s", other, c)
		case half != c && (half.Sibling().Parent() != c || half.Sibling() == half || half.Sibling().Sibling() != half):
			rt.Fatalf("%s and %s", half, half.Sibling())
		}
	})
	for _, c := range []Cell{{MaxCellBits + 1, 0}, {0, 1}, {3, 8}} {
		if c.Check() == nil {
			t.Errorf("%d bits, %b: a cell", c.Bits, c.Prefix)
		}
	}
}

// TestCellSizes has a line for each rule of docs/protocol.md, Cells.
func TestCellSizes(t *testing.T) {
	c, rule := CellOf(0, 3), DefaultCellRule()
	for name, tt := range map[string]struct{ got, want bool }{
		"divides when it has too many":          {rule.Divides(c, [2]int{251, 250}, true), true},
		"not before":                            {rule.Divides(c, [2]int{250, 250}, true), false},
		"nor while one does not know cells":     {rule.Divides(c, [2]int{300, 300}, false), false},
		"nor to leave a few to themselves":      {rule.Divides(c, [2]int{4000, rule.Least - 1}, true), false},
		"nor beyond the last level":             {rule.Divides(CellOf(0, MaxCellBits), [2]int{600, 600}, true), false},
		"joins when both are small":             {rule.Joins(c, 200, 100), true},
		"not while they would have many":        {rule.Joins(c, 200, 101), false},
		"the whole joins nothing":               {rule.Joins(Cell{}, 1, 1), false},
		"members go to their half":              {rule.MayFollow(c, CellOf(0, 4), rule.Ready), true},
		"not out of a small cell":               {rule.MayFollow(c, CellOf(0, 4), rule.Ready-1), false},
		"nor two levels at once":                {rule.MayFollow(c, CellOf(0, 5), math.MaxInt), false},
		"nor to another cell's half":            {rule.MayFollow(c, CellOf(1<<63, 4), rule.Ready), false},
		"and to the parent":                     {rule.MayFollow(c, CellOf(0, 2), rule.Join), true},
		"not out of a large cell":               {rule.MayFollow(c, CellOf(0, 2), rule.Join+1), false},
		"nor to another parent":                 {rule.MayFollow(c, CellOf(1<<63, 2), 1), false},
		"halves of a cell that divides stay so": {rule.Joins(c, rule.Most/2, rule.Most/2), false},
		"without a rule nothing divides":        {CellRule{}.Divides(c, [2]int{math.MaxInt32, math.MaxInt32}, true), false},
		"nor joins":                             {CellRule{}.Joins(c, 0, 0), false},
		"nor follows":                           {CellRule{}.MayFollow(c, CellOf(0, 4), math.MaxInt), false},
		"and a cell that was joined does too":   {rule.Divides(c, [2]int{rule.Join / 2, rule.Join / 2}, true), false},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %v", name, tt.got)
		}
	}
}

// TestCellsUnderChurn: in any order of members that come and go and cells that divide and join,
// each member belongs to one cell, the cells are no larger than they may be where hashes are
// as they fall, and none goes back at once on what it did.
func TestCellsUnderChurn(t *testing.T) {
	rule, numbers := DefaultCellRule(), make([]uint64, 3000)
	for i := range numbers {
		numbers[i] = CellNumber(commons, task.PeerID(fmt.Sprint("peer ", i)))
	}
	rapid.Check(t, func(rt *rapid.T) {
		cells, here := map[Cell]bool{{}: true}, 0
		of := func(c Cell) (n int) {
			for _, x := range numbers[:here] {
				if c.Holds(x) {
					n++
				}
			}
			return n
		}
		settle := func() { // to where no rule says anything more
			for changed, rounds := true, 0; changed; rounds++ {
				if changed = false; rounds > 3*MaxCellBits {
					rt.Fatalf("cells divide and join for ever at %d members", here)
				}
				for c := range cells {
					a, b := Cell{c.Bits + 1, c.Prefix << 1}, Cell{c.Bits + 1, c.Prefix<<1 | 1}
					if c.Bits < MaxCellBits && rule.Divides(c, [2]int{of(a), of(b)}, true) {
						delete(cells, c)
						cells[a], cells[b], changed = true, true, true
					} else if s := c.Sibling(); cells[s] && rule.Joins(c, of(c), of(s)) {
						delete(cells, c)
						delete(cells, s)
						cells[c.Parent()], changed = true, true
					}
				}
			}
		}
		for range rapid.IntRange(1, 6).Draw(rt, "changes") {
			here = rapid.IntRange(0, len(numbers)).Draw(rt, "members")
			settle()
			if lone := here <= rule.Join; lone && len(cells) > 1 {
				for c := range cells {
					if cells[c.Sibling()] && of(c)+of(c.Sibling()) <= rule.Join {
						rt.Fatalf("%d members in %d cells", here, len(cells))
					}
				}
			}
			for _, x := range numbers[:min(here, 50)] {
				in := 0
				for c := range cells {
					if c.Holds(x) {
						in++
					}
				}
				if in != 1 {
					rt.Fatalf("%x is in %d cells", x, in)
				}
			}
			for c := range cells {
				if n := of(c); n > rule.Most+rule.Least {
					rt.Fatalf("cell %s has %d of %d", c, n, here)
				}
			}
		}
	})
}
