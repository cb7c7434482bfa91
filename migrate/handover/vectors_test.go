package handover

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"godwit/task"
)

// TestFrameBytes: the bodies of frames, byte for byte, as docs/protocol.md has them.
func TestFrameBytes(t *testing.T) {
	hash := Hash(bytes.Repeat([]byte{0xab}, len(Hash{})))
	hashed := strings.Repeat("ab", len(Hash{}))
	for _, c := range []struct {
		frame Frame
		kind  Kind
		want  string
	}{
		{Welcome{}, 2, ""},
		{Refuse{Reason: "no"}, 3, "a101626e6f"},
		{Refuse{Reason: "no", Later: true}, 3, "a201626e6f02f5"},
		{Pages{Blocks: []Block{{hash, 258, []byte("xyz")}, {hash, NoPage, []byte{0}}}}, 4,
			hashed + "00000102" + "00000003" + "78797a" + hashed + "ffffffff" + "00000001" + "00"},
		{Round{N: 2, Fuel: 0x0102, CPU: 0x0304, Manifest: []byte("m")}, 5,
			"00000002" + "0000000000000102" + "0000000000000304" + "00000000" + "6d"},
		{Round{N: 2, Fuel: 0x0102, CPU: 0x0304, Word: []byte("wo"), Manifest: []byte("m")}, 5,
			"00000002" + "0000000000000102" + "0000000000000304" + "00000002" + "776f" + "6d"},
		{Got{N: MaxRounds}, 6, "00000040"},
		{Taking{Bytes: math.MaxUint64}, 7, "ffffffffffffffff"},
		{Final{N: 3, Fuel: 1, CPU: 2, Hash: hash, Word: []byte("w"), Manifest: []byte("m")}, 8,
			"00000003" + "0000000000000001" + "0000000000000002" + "00000001" + hashed + "77" + "6d"},
		{Resumed{Hash: hash}, 9, hashed},
		{Failed{Reason: ""}, 10, "a10160"},
	} {
		k, b, err := Encode(c.frame)
		if got := fmt.Sprintf("%x", b); err != nil || k != c.kind || got != c.want {
			t.Errorf("%T: kind %d, %s, %v, want %d, %s", c.frame, k, got, err, c.kind, c.want)
		}
	}
}

// open is an Open frame's body with one change.
func open(t *testing.T, change func(*Open)) []byte {
	t.Helper()
	f := someFrames[0].(Open)
	change(&f)
	b, err := task.Encode(f)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestMalformedFrames: what is wrong with a body, to the word.
func TestMalformedFrames(t *testing.T) {
	u32 := func(n uint32) []byte { return binary.BigEndian.AppendUint32(nil, n) }
	block := func(page, size uint32, data string) []byte {
		return append(append(append(make([]byte, len(Hash{})), u32(page)...), u32(size)...), data...)
	}
	said := func(n uint32, cpu uint64, word uint32, rest string) []byte {
		b := binary.BigEndian.AppendUint64(u32(n), 9)
		b = binary.BigEndian.AppendUint64(b, cpu)
		return append(binary.BigEndian.AppendUint32(b, word), rest...)
	}
	round := func(n uint32, cpu uint64, rest string) []byte { return said(n, cpu, 0, rest) }
	for name, c := range map[string]struct {
		kind Kind
		body []byte
		want string
	}{
		"kind 0":         {0, nil, "handover: bad frame: of kind 0: 0 bytes, the most is 0"},
		"kind 11":        {11, []byte{1}, "handover: bad frame: of kind 11: 1 bytes, the most is 0"},
		"a long welcome": {KindWelcome, []byte{0}, "handover: bad frame: of kind 2: 1 bytes, it has 0"},
		"a control of 5 KiB": {KindRefuse, make([]byte, 5<<10),
			"handover: bad frame: of kind 3: 5120 bytes, the most is 4096"},
		"half a number": {KindGot, []byte{0, 1}, "handover: bad frame: of kind 6: 2 bytes, it has 4"},
		"round 0":       {KindGot, u32(0), "handover: bad frame: of kind 6: round 0, they go from 1 to 64"},
		"round 65": {KindGot, u32(65),
			"handover: bad frame: of kind 6: round 65, they go from 1 to 64"},
		"round 2^32-1": {KindRound, round(math.MaxUint32, 0, "m"),
			"handover: bad frame: of kind 5: round 4294967295, they go from 1 to 64"},
		"taking seven bytes": {KindTaking, make([]byte, 7), "handover: bad frame: of kind 7: 7 bytes, it has 8"},
		"half a hash": {KindResumed, make([]byte, 16),
			"handover: bad frame: of kind 9: 16 bytes, it has 32"},
		"no blocks": {KindPages, nil, "handover: bad frame: of kind 4: no blocks"},
		"half a head": {KindPages, make([]byte, 39),
			"handover: bad frame: of kind 4: a block's head is cut short"},
		"half a second head": {KindPages, append(block(1, 1, "x"), 0),
			"handover: bad frame: of kind 4: a block's head is cut short"},
		"a block of more": {KindPages, block(1, 4, "abc"),
			"handover: bad frame: of kind 4: a block of 4 bytes, of which 3 came"},
		"a block of 4 GiB": {KindPages, block(1, math.MaxUint32, "abc"),
			"handover: bad frame: of kind 4: a block of 4294967295 bytes, of which 3 came"},
		"a block of nothing": {KindPages, block(1, 0, ""),
			"handover: bad frame: of kind 4: 0 bytes, a block has at most 131072"},
		"a block of 128 KiB and 1": {KindPages, block(1, MaxBlock+1, strings.Repeat("x", MaxBlock+1)),
			"handover: bad frame: of kind 4: 131073 bytes, a block has at most 131072"},
		"page 65536": {KindPages, block(MaxPages, 1, "x"),
			"handover: bad frame: of kind 4: page 65536, a memory has at most 65536"},
		"page 2^32-2": {KindPages, block(NoPage-1, 1, "x"),
			"handover: bad frame: of kind 4: page 4294967294, a memory has at most 65536"},
		"a round of no manifest": {KindRound, round(1, 0, ""),
			"handover: bad frame: of kind 5: 24 bytes, no manifest among them"},
		"a final of no manifest": {KindFinal, round(1, 0, strings.Repeat("h", len(Hash{}))),
			"handover: bad frame: of kind 8: 56 bytes, no manifest among them"},
		"a word and no manifest": {KindRound, said(1, 0, 3, "abc"),
			"handover: bad frame: of kind 5: a word of 3 bytes, and 3 bytes with the manifest"},
		"a word of 4 GiB": {KindRound, said(1, 0, math.MaxUint32, "abc"),
			"handover: bad frame: of kind 5: a word of 4294967295 bytes, the most is 65536"},
		"a final of a long word": {KindFinal, said(1, 0, 9, strings.Repeat("h", len(Hash{}))+"abc"),
			"handover: bad frame: of kind 8: a word of 9 bytes, and 3 bytes with the manifest"},
		"time that runs back": {KindRound, round(1, math.MaxUint64, "m"),
			"handover: bad frame: of kind 5: a processor time of -1ns"},
		"an open of no overlay": {KindOpen, open(t, func(o *Open) { o.Overlay = "" }),
			"handover: bad frame: of kind 1: an overlay's ID of 0 bytes, the most is 64"},
		"a long overlay": {KindOpen, open(t, func(o *Open) { o.Overlay = strings.Repeat("o", 65) }),
			"handover: bad frame: of kind 1: an overlay's ID of 65 bytes, the most is 64"},
	} {
		_, err := Decode(c.kind, c.body)
		if err == nil || err.Error() != c.want || !errors.Is(err, ErrFrame) {
			t.Errorf("%s:\n got %v\nwant %s", name, err, c.want)
		}
	}
	for name, body := range map[string][]byte{
		"a task of no job": open(t, func(o *Open) { o.Task.Job = "job" }), "not CBOR": {0xff}, "a list": {0x80},
		"cut":            open(t, func(*Open) {})[:20],
		"more behind it": append(open(t, func(*Open) {}), 0),
	} {
		if f, err := Decode(KindOpen, body); !errors.Is(err, ErrFrame) {
			t.Errorf("%s: taken as %+v, %v", name, f, err)
		}
	}
}

// TestFramesCutAnywhere: a frame that loses its end is refused, or is the frame of
// fewer whole blocks, or of a shorter manifest.
func TestFramesCutAnywhere(t *testing.T) {
	short := append([]Frame{}, someFrames...)
	short[7] = Pages{Blocks: []Block{{Hash: Hash{1}, Page: 5, Data: []byte("xyz")},
		{Hash: Hash{2}, Page: NoPage, Data: []byte("ab")}}}
	for _, f := range short {
		k, b, err := Encode(f)
		if err != nil {
			t.Fatal(err)
		}
		for n := range b {
			got, err := Decode(k, b[:n])
			if err != nil {
				continue
			}
			switch g := got.(type) {
			case Pages:
				if n != blockHead+3 || len(g.Blocks) != 1 {
					t.Errorf("pages cut at %d: %+v", n, g)
				}
			case Round:
				t.Errorf("a round of a manifest of one byte, cut at %d: %+v", n, g)
			default:
				t.Errorf("%T cut at %d of %d: %+v", f, n, len(b), g)
			}
		}
	}
}

// TestPagesSurvive: any blocks within the bounds come as they went, and share the
// body's memory, so that a hundred blocks cost no copy.
func TestPagesSurvive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var want Pages
		for range rapid.IntRange(1, 20).Draw(t, "blocks") {
			page := rapid.OneOf(rapid.Uint32Range(0, MaxPages-1), rapid.Just(NoPage)).Draw(t, "page")
			bl := Block{Page: page, Data: rapid.SliceOfN(rapid.Byte(), 1, 200).Draw(t, "data")}
			bl.Hash[0] = byte(len(bl.Data))
			if want.Add(bl) {
				t.Fatal("a few small blocks fill a frame")
			}
		}
		k, b, err := Encode(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Decode(k, b)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("got %+v, %v, want %+v", got, err, want)
		}
		first := got.(Pages).Blocks[0].Data
		b[blockHead] ^= 0xff
		if first[0] == want.Blocks[0].Data[0] {
			t.Fatal("the block is a copy")
		}
		if cap(first) != len(first) {
			t.Fatal("a block can be appended to, over the next")
		}
	})
}

// TestLimitsByKind: no kind takes more than it must, and those that carry state take
// what the largest state needs.
func TestLimitsByKind(t *testing.T) {
	for k := range Kind(20) {
		want := 4 << 10
		switch k {
		case KindPages:
			want = 256<<10 + 40 + 128<<10
		case KindRound:
			want = 24 + 64<<10 + 64<<20
		case KindFinal:
			want = 56 + 64<<10 + 64<<20
		case 0, 11, 12, 13, 14, 15, 16, 17, 18, 19:
			want = 0
		}
		if got := k.Limit(); got != want {
			t.Errorf("kind %d takes %d bytes, want %d", k, got, want)
		}
	}
}

// TestRefusedToSend: what is not sent, and why.
func TestRefusedToSend(t *testing.T) {
	type alien struct{ Frame }
	for _, c := range []struct {
		frame Frame
		want  string
	}{
		{nil, "handover: bad frame: none"},
		{Got{N: 0}, "handover: bad frame: handover.Got: round 0, they go from 1 to 64"},
		{Round{N: 1, CPU: -time.Second, Manifest: []byte("m")},
			"handover: bad frame: handover.Round: a processor time of -1s"},
		{Round{N: 1, Word: make([]byte, MaxWord+1), Manifest: []byte("m")},
			"handover: bad frame: handover.Round: a word of 65537 bytes, the most is 65536"},
		{Final{N: 1}, "handover: bad frame: handover.Final: a manifest of 0 bytes, the most is 67108864"},
		{Pages{}, "handover: bad frame: handover.Pages: 0 blocks of 0 bytes, the most is 393256"},
		{Pages{Blocks: []Block{{Data: []byte("x")}, {Page: MaxPages, Data: []byte("x")}}},
			"handover: bad frame: handover.Pages: block 1: page 65536, a memory has at most 65536"},
		{Open{Task: someTask}, "handover: bad frame: handover.Open: an overlay's ID of 0 bytes, the most is 64"},
		{alien{Welcome{}}, "handover: bad frame: handover.alien: not a frame of this version"},
	} {
		if _, _, err := Encode(c.frame); err == nil || err.Error() != c.want {
			t.Errorf("%T: got %v, want %s", c.frame, err, c.want)
		}
	}
}
