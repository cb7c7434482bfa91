package handover

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"

	"godwit/internal/roundtrip"
	"godwit/task"
)

var someTask = task.TaskID{Job: task.JobID("bafyreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy"), Index: 3}

var someFrames = []Frame{
	Open{Overlay: "o", Task: someTask, From: Attempt{1, 2}, As: Attempt{1, 3}, Urgent: true},
	Welcome{}, Refuse{Reason: "no", Later: true}, Got{N: 7}, Taking{Bytes: 1 << 40}, Failed{Reason: "gone"},
	Resumed{Hash: Hash{1}},
	Pages{Blocks: []Block{{Hash: Hash{1}, Page: 5, Data: []byte("x")},
		{Hash: Hash{2}, Page: NoPage, Data: make([]byte, MaxBlock)}}},
	Round{N: 1, Fuel: 1, CPU: time.Second, Manifest: []byte("m")},
	Round{N: 2, Fuel: 1, Word: []byte("word"), Manifest: []byte("m")},
	Final{N: 64, Fuel: 1 << 63, Hash: Hash{3}, Manifest: []byte("m")},
}

func TestFramesComeBack(t *testing.T) {
	for _, f := range someFrames {
		k, b, err := Encode(f)
		if err != nil {
			t.Fatalf("%T: %v", f, err)
		}
		got, err := Decode(k, b)
		if err != nil || !reflect.DeepEqual(got, f) {
			t.Errorf("%+v came back as %+v, %v", f, got, err)
		}
	}
}

// What is beyond its limits is neither sent nor taken.
func TestBadFrames(t *testing.T) {
	for _, f := range []Frame{
		nil, Open{Overlay: "o"}, Open{Task: someTask}, Open{Overlay: strings.Repeat("o", MaxOverlay+1), Task: someTask},
		Pages{}, Pages{Blocks: []Block{{}}}, Pages{Blocks: []Block{{Data: make([]byte, MaxBlock+1)}}},
		Pages{Blocks: []Block{{Data: []byte("x"), Page: MaxPages}}},
		Pages{Blocks: make([]Block, MaxPages)},
		Round{N: 1}, Round{N: 0, Manifest: []byte("m")}, Round{N: MaxRounds + 1, Manifest: []byte("m")},
		Round{N: 1, CPU: -1, Manifest: []byte("m")}, Round{N: 1, Manifest: make([]byte, MaxManifest+1)},
		Final{N: 1}, Got{}, Got{N: -1},
	} {
		if k, _, err := Encode(f); err == nil {
			t.Errorf("%T was encoded as %d", f, k)
		}
	}
	long, _ := task.Encode(Failed{Reason: strings.Repeat("r", MaxReason+1)})
	for _, c := range []struct {
		kind Kind
		body []byte
	}{
		{0, nil}, {11, nil}, {KindWelcome, []byte{0}}, {KindOpen, nil}, {KindOpen, []byte{0xa0}}, {KindFailed, long},
		{KindGot, []byte{0, 0, 0, 0}}, {KindGot, []byte{0xff, 0xff, 0xff, 0xff}}, {KindTaking, make([]byte, 7)},
		{KindResumed, make([]byte, 33)}, {KindPages, make([]byte, blockHead-1)}, {KindPages, make([]byte, blockHead)},
		{KindPages, bytes.Repeat([]byte{0xff}, blockHead+1)}, {KindRound, make([]byte, roundHead+1)},
		{KindRound, append([]byte{0, 0, 0, 1}, make([]byte, roundHead-4)...)},
		{KindRound, append([]byte{0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0xff}, make([]byte, roundHead)...)},
		{KindPages, make([]byte, KindPages.Limit()+1)},
	} {
		if f, err := Decode(c.kind, c.body); err == nil {
			t.Errorf("%d of %d bytes was taken as %+v", c.kind, len(c.body), f)
		}
	}
}

// A batch that Add calls full fits a frame, whatever its last block.
func TestBatchesFit(t *testing.T) {
	var p Pages
	for !p.Add(Block{Data: make([]byte, 3)}) {
	}
	if len(p.Blocks) != BatchBlocks {
		t.Errorf("full with %d blocks", len(p.Blocks))
	}
	p.Blocks = nil
	for !p.Add(Block{Data: make([]byte, 10<<10)}) {
	}
	p.Blocks = p.Blocks[:len(p.Blocks)-1]
	if !p.Add(Block{Data: make([]byte, MaxBlock)}) {
		t.Error("not full")
	}
	if _, _, err := Encode(p); err != nil {
		t.Error(err)
	}
}

// A reason is for people: it is cut at a rune, and moves no cursor.
func TestReasonsAreClipped(t *testing.T) {
	k, b, err := Encode(Failed{Reason: "a\x1b[2J\xff" + strings.Repeat("é", MaxReason)})
	if err != nil {
		t.Fatal(err)
	}
	f, err := Decode(k, b)
	if err != nil {
		t.Fatal(err)
	}
	if r := f.(Failed).Reason; len(r) > MaxReason || len(r) < MaxReason-2 || !strings.HasPrefix(r, "a [2J?é") {
		t.Errorf("%q", r)
	}
}

// Whatever comes, Decode returns, and what it takes can be sent again and comes
// out the same.
func FuzzDecode(f *testing.F) {
	for _, fr := range someFrames {
		k, b, err := Encode(fr)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(byte(k), b[:min(len(b), 1000)])
	}
	f.Fuzz(func(t *testing.T, kind byte, body []byte) {
		fr, err := Decode(Kind(kind), body)
		if err != nil {
			return
		}
		again := roundtrip.Check(t, fr, func(fr Frame) ([]byte, error) {
			k, b, err := Encode(fr)
			if k != Kind(kind) {
				t.Fatalf("%+v was taken as kind %d, and is sent as %d", fr, kind, k)
			}
			return b, err
		}, func(b []byte) (Frame, error) { return Decode(Kind(kind), b) })
		if !reflect.DeepEqual(again, fr) {
			t.Fatalf("%+v came back as %+v", fr, again)
		}
	})
}
