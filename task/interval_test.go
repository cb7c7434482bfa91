package task

import (
	"slices"
	"testing"

	"godwit/internal/roundtrip"

	"pgregory.net/rapid"
)

const spaced = 1 << 30 // the spacing here

// trailOf is the trail of a run between two fuels, with its boundaries a little behind the multiples.
func trailOf(base, fuel uint64) (*Trail, []Boundary) {
	now := SpacingAt(spaced, fuel)
	var of []Boundary
	for m := base/now + 1; m*now <= fuel; m++ {
		of = append(of, Boundary{Fuel: min(m*now+m, fuel), State: [32]byte{byte(m), 1}})
	}
	t := &Trail{Pass: 1, Fuel: fuel, Boundaries: uint32(len(of)), Root: TrailRoot(of)}
	if base > 0 {
		t.Began = []Link{{Fuel: base}}
	}
	return t, of
}

// The intervals of an honest run are as many as it has boundaries, and one more; they follow each
// other from its beginning to its end.
func TestIntervals(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		fuel := rapid.Uint64Range(1, 2000*spaced).Draw(rt, "fuel")
		base := rapid.Uint64Range(0, fuel).Draw(rt, "base")
		tr, of := trailOf(base, fuel)
		n := tr.Intervals(spaced)
		if long := len(of)+1 >= MinIntervals; long != (n > 0) || long && n != len(of)+1 {
			rt.Fatalf("%d intervals with %d boundaries", n, len(of))
		}
		if n == 0 {
			return
		}
		if err := tr.CheckBoundaries(of, spaced); err != nil {
			rt.Fatal(err)
		}
		at := uint64(0)
		for k := range n {
			from, to := tr.IntervalFuel(of, k)
			if from != at || to < from {
				rt.Fatalf("interval %d is from %d to %d, after %d", k, from, to, at)
			}
			at = to
		}
		if at != fuel {
			rt.Fatalf("the last ends at %d of %d", at, fuel)
		}
	})
}

// Boundaries that a worker did not sign, or that do not lie where they have to, are refused, signed
// or not.
func TestHostileBoundaries(t *testing.T) {
	tr, good := trailOf(0, 20*spaced)
	for name, tt := range map[string]struct {
		change func(of []Boundary) []Boundary
		signs  bool
	}{
		"another state":          {func(of []Boundary) []Boundary { of[3].State[0]++; return of }, false},
		"one is missing":         {func(of []Boundary) []Boundary { return of[1:] }, false},
		"one is missing, signed": {func(of []Boundary) []Boundary { return of[1:] }, true},
		"other order, signed":    {func(of []Boundary) []Boundary { of[3], of[4] = of[4], of[3]; return of }, true},
		"much work in one, signed": {func(of []Boundary) []Boundary {
			for i := range of {
				of[i].Fuel = uint64(i + 1)
			}
			return of
		}, true},
		"beyond the end, signed": {func(of []Boundary) []Boundary { of[len(of)-1].Fuel = tr.Fuel + 1; return of }, true},
		"none":                   {func([]Boundary) []Boundary { return nil }, false},
	} {
		of, claims := tt.change(slices.Clone(good)), *tr
		if tt.signs {
			claims.Root = TrailRoot(of)
		}
		if claims.CheckBoundaries(of, spaced) == nil {
			t.Errorf("%s: taken", name)
		}
	}
	for name, change := range map[string]func(*Trail){
		"too few":          func(tr *Trail) { tr.Fuel, tr.Boundaries = 5*spaced, 5 },
		"fewer than fuel":  func(tr *Trail) { tr.Boundaries-- },
		"more than fuel":   func(tr *Trail) { tr.Boundaries++ },
		"began in between": func(tr *Trail) { tr.Began = []Link{{Fuel: 3 * spaced}} },
	} {
		claims := *tr
		if change(&claims); claims.Intervals(spaced) != 0 {
			t.Errorf("%s: %d intervals", name, claims.Intervals(spaced))
		}
	}
	if (*Trail)(nil).Intervals(spaced) != 0 || tr.Intervals(0) != 0 {
		t.Error("there are intervals of nothing")
	}
}

// FuzzDecodeKept checks that what is read of states that a worker kept is in order, and comes back.
func FuzzDecodeKept(f *testing.F) {
	for _, k := range []KeptStates{{}, {States: []KeptState{{Fuel: 1, Hash: make([]byte, 32)},
		{Fuel: 2, Hash: make([]byte, 32), CID: RawCID([]byte("state"))}}}} {
		b, err := Encode(&k)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		k, err := DecodeKept(b)
		if err != nil {
			return
		}
		roundtrip.Check(t, k, func(k *KeptStates) ([]byte, error) { return Encode(k) }, DecodeKept)
		if of := k.Boundaries(); len(of) > MaxBoundaries || !slices.IsSortedFunc(of, func(a, b Boundary) int {
			if a.Fuel < b.Fuel {
				return -1
			}
			return 1
		}) {
			t.Fatalf("%+v", of)
		}
	})
}

// States that a worker says it kept are bounded before any is looked at.
func TestKeptBounds(t *testing.T) {
	hash := make([]byte, 32)
	many := make([]KeptState, MaxBoundaries+1)
	for i := range many {
		many[i] = KeptState{Fuel: uint64(i), Hash: hash}
	}
	for name, states := range map[string][]KeptState{
		"many": many, "half a hash": {{Fuel: 1, Hash: hash[:16]}}, "no CID": {{Fuel: 1, Hash: hash, CID: "x"}},
		"twice": {{Fuel: 1, Hash: hash}, {Fuel: 1, Hash: hash}}, "backwards": {{Fuel: 2, Hash: hash}, {Fuel: 1, Hash: hash}},
	} {
		b, err := Encode(&KeptStates{States: states})
		if err != nil {
			t.Fatal(err)
		}
		if k, err := DecodeKept(b); err == nil {
			t.Errorf("%s: %+v", name, k)
		}
	}
	if _, err := DecodeKept(make([]byte, maxKept+1)); err == nil {
		t.Error("too much is read")
	}
}

// A job file says how long the parts are that its tasks are checked in.
func TestParts(t *testing.T) {
	for text, want := range map[string]uint64{
		"verify: 5%\n": 0, "verify: 5%\nparts: 5s\n": 5 * ReferenceFuel, "parts: 1ms\nverify: full\n": ReferenceFuel / 1000,
	} {
		f, err := ParseFile("j.yaml", []byte("module: a.wasm\n"+text))
		if err != nil || f.Verify.Spacing != want {
			t.Errorf("%q: %+v, %v", text, f, err)
		}
	}
	for _, text := range []string{"parts: 5s\n", "verify: off\nparts: 5s\n", "verify: 5%\nparts: 1us\n",
		"verify: 5%\nparts: 2h\n", "verify: 5%\nparts: -1s\n", "verify: 5%\nparts: x\n"} {
		if f, err := ParseFile("j.yaml", []byte("module: a.wasm\n"+text)); err == nil {
			t.Errorf("%q: %+v", text, f.Verify)
		}
	}
}
