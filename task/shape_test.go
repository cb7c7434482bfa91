package task

import (
	"bytes"
	"runtime"
	"strings"
	"testing"
)

// small is the worst there is: of a byte, 88 bytes.
type small struct {
	A, B, C, D, E, F, G, H, I, J, K uint64
}

type shaped struct {
	Few   []small        `cbor:"1,keyasint" most:"3"`
	Any   []small        `cbor:"2,keyasint"`
	Named map[string]int `cbor:"3,keyasint,omitempty" most:"2"`
	Next  *shaped        `cbor:"4,keyasint,omitempty"`
	Raw   []byte         `cbor:"5,keyasint,omitempty"`
	Pair  paired         `cbor:"6,keyasint,omitzero"`
	Fixed [4]byte        `cbor:"7,keyasint,omitzero"`
}

type paired struct {
	_ struct{} `cbor:",toarray"`
	A []string `most:"2"`
	B int
}

func TestDecodeKeepsBounds(t *testing.T) {
	encode := func(v any) []byte {
		b, err := Encode(v)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	deep := any(1)
	for range maxNesting + 1 {
		deep = map[int]any{4: deep}
	}
	unknown := map[int]int{}
	for i := range maxUnknown + 1 {
		unknown[i+100] = i
	}
	for name, c := range map[string]struct {
		b    []byte
		want string // in the error; "" for none
	}{
		"everything": {encode(shaped{Few: make([]small, 3), Any: make([]small, 9), Named: map[string]int{"a": 1, "b": 2},
			Next: &shaped{}, Raw: []byte("raw"), Pair: paired{A: []string{"x"}, B: 4}, Fixed: [4]byte{1}}), ""},
		"four of three":     {encode(shaped{Few: make([]small, 4)}), "of 4, the most is 3"},
		"three of two":      {encode(shaped{Named: map[string]int{"a": 1, "b": 2, "c": 3}}), "of 3, the most is 2"},
		"three in a tuple":  {encode(shaped{Pair: paired{A: make([]string, 3)}}), "of 3, the most is 2"},
		"in one within":     {encode(shaped{Next: &shaped{Few: make([]small, 4)}}), "of 4, the most is 3"},
		"a map for a list":  {encode(map[int]any{1: map[int]int{}}), "of another kind"},
		"a text for a list": {encode(map[int]any{1: "x"}), "a text for a"},
		"a list for a text": {encode(map[int]any{5: map[int]int{}}), "of another kind"},
		"a number for all":  {encode(7), "of another kind"},
		"too deep":          {encode(deep), "too deep"},
		"some unknown":      {encode(map[int]any{100: []any{1, "x", map[string]int{"a": 1}}, 101: nil}), ""},
		"many unknown":      {encode(unknown), "that it has not"},
		"cut short":         {encode(shaped{Raw: []byte("raw")})[:9], "too soon"},
		"a long list":       {[]byte{0xa1, 2, 0x9a, 0xff, 0xff, 0xff, 0xff}, "too soon"},
		"no length":         {[]byte{0xa1, 2, 0x9f, 0xff}, "not said"},
	} {
		err := Decode(c.b, new(shaped))
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// allocated is what f allocates, in bytes.
func allocated(f func()) int {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int(after.TotalAlloc - before.TotalAlloc)
}

// TestDecodeGrowth: whatever the bytes are, decoding them takes a bounded multiple of them.
func TestDecodeGrowth(t *testing.T) {
	const n = 100_000
	list := append([]byte{0xa1, 2, 0x9a, 0, n >> 16, n >> 8 & 0xff, n & 0xff}, bytes.Repeat([]byte{0xa0}, n)...)
	if got := allocated(func() {
		if err := Decode(list, new(shaped)); err == nil {
			t.Error("a list of empty maps was decoded")
		}
	}); got > 8*len(list) {
		t.Errorf("%d bytes for a list of %d", got, len(list))
	}
}
