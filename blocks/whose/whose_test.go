package whose

import (
	"crypto/sha256"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func leaf(name string) Block  { return Block{Digest: sha256.Sum256([]byte(name))} }
func inner(name string) Block { return Block{Digest: sha256.Sum256([]byte(name)), Inner: true} }

var start = time.Unix(1_800_000_000, 0)

// An index with the roots of two overlays; what they reach is not looked at.
func two() *Index {
	x := New(Usual())
	x.Renew(start, map[string][]Block{"a": {leaf("a's"), leaf("both"), inner("tree")}, "b": {leaf("b's"), leaf("both")}})
	return x
}

func TestOf(t *testing.T) {
	a, b, both := []string{"a"}, []string{"b"}, []string{"b", "a"}
	reached := func(x *Index) { x.Reach(x.Sets(a), leaf("page")) }
	for _, c := range []struct {
		name string
		do   func(x *Index)
		what Block
		in   []string // the overlays that it is asked about
		want []string
	}{
		{"a root", nil, leaf("a's"), both, a},
		{"another's root", nil, leaf("a's"), b, nil},
		{"a root of both", nil, leaf("both"), both, both},
		{"nobody's", nil, leaf("nobody's"), both, nil},
		{"of an overlay that is not here", nil, leaf("a's"), []string{"c", ""}, nil},
		{"read as another kind of block", nil, inner("a's"), both, nil},
		{"below a root", reached, leaf("page"), both, a},
		{"below a root of the other's too", func(x *Index) {
			reached(x)
			x.Reach(x.Sets(b), leaf("page"))
		}, leaf("page"), both, both},
		{"noted later", func(x *Index) { x.Note("b", leaf("new")) }, leaf("new"), both, b},
		{"of an overlay that was left", func(x *Index) { x.Leave("a") }, leaf("a's"), both, nil},
		{"of the overlay that stays", func(x *Index) { x.Leave("a") }, leaf("both"), both, b},
		{"below a root of an overlay that was left", func(x *Index) { reached(x); x.Leave("a") }, leaf("page"), both, nil},
		{"below no root", func(x *Index) { x.Reach(0, leaf("page")) }, leaf("page"), both, nil},
		{"an overlay takes the place of one that was left", func(x *Index) {
			x.Leave("a")
			x.Note("c", leaf("c's"))
		}, leaf("a's"), []string{"c"}, nil},
		{"told no more, a moment later", func(x *Index) { x.Renew(start.Add(time.Minute), nil) }, leaf("a's"), a, a},
		{"told no more, some hours later", func(x *Index) {
			x.Renew(start.Add(time.Hour), nil)
			x.Renew(start.Add(2*time.Hour), nil)
		}, leaf("a's"), a, nil},
		{"told by one of two", func(x *Index) {
			for h := range time.Duration(3) {
				x.Renew(start.Add((h+1)*time.Hour), map[string][]Block{"b": {leaf("both")}})
			}
		}, leaf("both"), both, b},
		{"below a root that is told no more", func(x *Index) {
			reached(x)
			x.Renew(start.Add(time.Hour), nil)
		}, leaf("page"), a, nil},
	} {
		x := two()
		if c.do != nil {
			c.do(x)
		}
		if got, want := x.Of(c.what)&x.Sets(c.in), x.Sets(c.want); got != want || len(c.want) > 0 && got == 0 {
			t.Errorf("%s: overlays %b, want %b", c.name, got, want)
		}
	}
}

// all takes the roots that are to be looked at.
func all(x *Index, among ...string) (out []Block) {
	for {
		b, of, ok := x.Next(x.Sets(among))
		if !ok {
			return out
		}
		if of&x.Sets(among) == 0 {
			panic("a root of another overlay")
		}
		out = append(out, b)
	}
}

func TestRootsAreLookedAtOnce(t *testing.T) {
	x := two()
	expect := func(what string, got []Block, want ...Block) {
		t.Helper()
		if len(got) != len(want) {
			t.Fatalf("%s: %d roots are looked at, want %d", what, len(got), len(want))
		}
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("%s: root %d is another", what, i)
			}
		}
	}
	expect("the other's", all(x, "b"))
	x.Note("a", inner("newer"))
	expect("the newest first", all(x, "a"), inner("newer"), inner("tree"))
	x.Note("a", inner("newer"))
	expect("known", all(x, "a", "b"))
	x.Note("b", inner("tree"))
	expect("of another overlay now", all(x, "b"), inner("tree"))
	x.Partial(inner("tree"))
	expect("not all was here", all(x, "a"))
	x.Renew(start.Add(time.Second), nil)
	expect("more may be here", all(x, "a"), inner("tree"))
	x.Note("a", inner("gone"))
	x.Leave("a")
	expect("left", all(x, "b", "a"), inner("tree"))
}

// TestForgotten: what there was no room for is looked for again.
func TestForgotten(t *testing.T) {
	x := New(Limits{Roots: 4, Reached: 4, Keep: time.Hour, Again: time.Minute})
	x.Renew(start, map[string][]Block{"a": {inner("tree")}})
	if len(all(x, "a")) != 1 {
		t.Fatal("a new root is not looked at")
	}
	for _, name := range []string{"1", "2", "3", "4", "5", "6"} {
		x.Reach(x.Sets([]string{"a"}), leaf(name))
	}
	if x.Of(leaf("1")) != 0 || x.Of(leaf("6")) == 0 {
		t.Fatal("the oldest is remembered, or the newest is not")
	}
	x.Renew(start.Add(time.Second), nil)
	if len(all(x, "a")) != 0 {
		t.Fatal("it is looked for again at once")
	}
	x.Renew(start.Add(time.Minute), nil)
	if len(all(x, "a")) != 1 {
		t.Fatal("it is not looked for again")
	}
}

// TestNobodyElses: whatever happens, a block is nobody's who was not told of, and no more is
// remembered than may be.
func TestNobodyElses(t *testing.T) {
	limits := Limits{Roots: 8, Reached: 10, Keep: time.Hour, Again: time.Minute}
	names := rapid.SampledFrom([]string{"a", "b", "c"})
	rapid.Check(t, func(t *rapid.T) {
		x, now := New(limits), start
		told := map[Block]map[string]bool{} // since the overlay was last left
		tell := func(of string, b Block) {
			if told[b] == nil {
				told[b] = map[string]bool{}
			}
			told[b][of] = true
		}
		block := func(t *rapid.T) Block {
			return Block{Digest: [32]byte{rapid.Byte().Draw(t, "block")}, Inner: rapid.Bool().Draw(t, "inner")}
		}
		t.Repeat(map[string]func(*rapid.T){
			"note": func(t *rapid.T) {
				of, b := names.Draw(t, "of"), block(t)
				x.Note(of, b)
				tell(of, b)
				if x.Of(b)&x.Sets([]string{of}) == 0 {
					t.Fatal("what was just told is not known")
				}
			},
			"reach": func(t *rapid.T) {
				of, b := names.Draw(t, "of"), block(t)
				x.Reach(x.Sets([]string{of}), b)
				tell(of, b)
			},
			"renew": func(t *rapid.T) {
				now = now.Add(time.Duration(rapid.IntRange(0, 90).Draw(t, "minutes")) * time.Minute)
				of, b := names.Draw(t, "of"), block(t)
				x.Renew(now, map[string][]Block{of: {b}})
				tell(of, b)
			},
			"next":    func(t *rapid.T) { x.Next(x.Sets([]string{names.Draw(t, "of")})) },
			"partial": func(t *rapid.T) { x.Partial(block(t)) },
			"leave": func(t *rapid.T) {
				of := names.Draw(t, "of")
				x.Leave(of)
				for _, who := range told {
					delete(who, of)
				}
			},
			"": func(t *rapid.T) {
				for i := range 256 {
					for _, in := range []bool{false, true} {
						b := Block{Digest: [32]byte{byte(i)}, Inner: in}
						for _, of := range []string{"a", "b", "c"} {
							if x.Of(b)&x.Sets([]string{of}) != 0 && !told[b][of] {
								t.Fatalf("block %v is %s's, which was not told", b.Digest[0], of)
							}
						}
					}
				}
				todo := 0
				for _, list := range x.todo {
					todo = max(todo, len(list))
				}
				if len(x.roots) > limits.Roots || len(x.young)+len(x.old) > limits.Reached ||
					todo > limits.Roots || len(x.partial) > limits.Roots {
					t.Fatalf("%d roots, %d and %d reached, %d to be looked at, %d partial: too many",
						len(x.roots), len(x.young), len(x.old), todo, len(x.partial))
				}
			},
		})
	})
}
