package task

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func testTrail() *Trail {
	b := []Boundary{{Fuel: DefaultSpacing, State: sha256.Sum256([]byte("one"))}, {Fuel: 2 * DefaultSpacing}}
	last := sha256.Sum256([]byte("last"))
	return &Trail{Pass: 6, Fuel: 9 * DefaultSpacing, Last: last[:], Boundaries: 2, Root: TrailRoot(b)}
}

// The tree is that of RFC 6962: its section 2.1.3 draws the one of seven leaves.
func TestTrailRoot(t *testing.T) {
	if TrailRoot(nil) != nil {
		t.Error("a root of no boundaries")
	}
	leaf := func(b Boundary) []byte {
		h := sha256.New()
		h.Write([]byte{0, 0, 0, 0, 0, 0, 0, 0, byte(b.Fuel)})
		h.Write(b.State[:])
		return h.Sum(nil)
	}
	node := func(l, r []byte) []byte {
		h := sha256.New()
		h.Write([]byte{1})
		h.Write(l)
		h.Write(r)
		return h.Sum(nil)
	}
	var b []Boundary
	var l [][]byte
	for i := range 7 {
		b = append(b, Boundary{Fuel: uint64(i + 1), State: sha256.Sum256([]byte{byte(i)})})
		l = append(l, leaf(b[i]))
	}
	k := node(node(l[0], l[1]), node(l[2], l[3]))
	for n, want := range map[int][]byte{1: l[0], 2: node(l[0], l[1]), 3: node(node(l[0], l[1]), l[2]), 4: k,
		5: node(k, l[4]), 6: node(k, node(l[4], l[5])), 7: node(k, node(node(l[4], l[5]), l[6]))} {
		if got := TrailRoot(b[:n]); hex.EncodeToString(got) != hex.EncodeToString(want) {
			t.Errorf("the root of %d boundaries is %x, want %x", n, got, want)
		}
	}
}

// Any change of the boundaries changes the root.
func TestTrailRootNamesItsBoundaries(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		boundary := rapid.Custom(func(t *rapid.T) Boundary {
			return Boundary{rapid.Uint64().Draw(t, "fuel"), [32]byte{rapid.Byte().Draw(t, "state")}}
		})
		a := rapid.SliceOfN(boundary, 1, MaxBoundaries).Draw(t, "boundaries")
		other := append([]Boundary(nil), a...)
		i := rapid.IntRange(0, len(a)-1).Draw(t, "which")
		switch rapid.SampledFrom([]string{"fuel", "state", "less", "more"}).Draw(t, "change") {
		case "fuel":
			other[i].Fuel++
		case "state":
			other[i].State[31]++
		case "less":
			other = append(other[:i], other[i+1:]...)
		case "more":
			other = append(other, a[i])
		}
		if string(TrailRoot(a)) == string(TrailRoot(other)) {
			t.Fatal("two lists of boundaries have one root")
		}
	})
}

func TestTrailBounds(t *testing.T) {
	for name, spoil := range map[string]func(*Trail){
		"no version":          func(l *Trail) { l.Pass = 0 },
		"no fuel":             func(l *Trail) { l.Fuel = 0 },
		"half a hash":         func(l *Trail) { l.Last = l.Last[:16] },
		"half a root":         func(l *Trail) { l.Root = l.Root[:16] },
		"many boundaries":     func(l *Trail) { l.Boundaries = MaxBoundaries + 1 },
		"a root of none":      func(l *Trail) { l.Boundaries = 0 },
		"boundaries, no root": func(l *Trail) { l.Root = nil },
	} {
		r := testResult()
		r.Trail = testTrail()
		if err := r.Sign(testKey(1)); err != nil {
			t.Fatal(err)
		}
		if spoil(r.Trail); r.Trail.validate() == nil || r.Sign(testKey(1)) == nil {
			t.Errorf("%s: signed", name)
		}
		if r.Verify() == nil {
			t.Errorf("%s: verified", name)
		}
	}
	r := testResult()
	r.Trail = testTrail()
	if err := r.Sign(testKey(1)); err != nil {
		t.Fatal(err)
	}
	if r.Trail.Fuel++; r.Verify() == nil {
		t.Error("the signature does not cover the trail")
	}
	for engine, ok := range map[string]bool{"arm64": true, "interpreter": true, "": true, "\x1b[2J": false,
		"an engine": false, "x1234567890123456": false} {
		if err := (&Trail{Pass: 6, Fuel: 1, Engine: engine}).validate(); (err == nil) != ok {
			t.Errorf("engine %q: %v", engine, err)
		}
	}
	short := &Trail{Pass: 6, Fuel: 1}
	if err := short.validate(); err != nil {
		t.Errorf("a short task: %v", err)
	}
}

func TestTrailDifference(t *testing.T) {
	with := func(change func(*Trail)) *Trail {
		l := testTrail()
		change(l)
		return l
	}
	for _, tt := range []struct {
		other *Trail
		want  string // "" for none
	}{
		{testTrail(), ""},
		{nil, ""},
		{with(func(l *Trail) { l.Pass, l.Fuel = 7, 1 }), ""},
		{with(func(l *Trail) { l.Fuel++ }), "units of fuel"},
		{with(func(l *Trail) { l.Last = make([]byte, 32) }), "another state"},
		{with(func(l *Trail) { l.Last = nil }), ""},
		{with(func(l *Trail) { l.Root = make([]byte, 32) }), "another way"},
		{with(func(l *Trail) { l.Boundaries, l.Root = 1, make([]byte, 32) }), ""},
	} {
		for _, got := range []string{testTrail().Difference(tt.other), tt.other.Difference(testTrail())} {
			if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
				t.Errorf("%+v: %q, want %q", tt.other, got, tt.want)
			}
		}
	}
}
