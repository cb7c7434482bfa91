package message_test

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"

	"godwit/overlay"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

func TestFrameRoundTrip(t *testing.T) {
	want := schedtest.EveryMessage(t)
	b, err := message.EncodeFrame(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := message.DecodeFrame(b)
	if err != nil {
		t.Fatal(err)
	}
	again, err := message.EncodeFrame(got)
	if err != nil || !bytes.Equal(again, b) {
		t.Errorf("encoding again gives other bytes (%v)", err)
	}
	for i := range want {
		if !reflect.DeepEqual(got[i], want[i]) {
			t.Errorf("message %d: got %+v, want %+v", i, got[i], want[i])
		}
	}
	if b, err = message.EncodeFrame(nil); err != nil || len(b) != 1 {
		t.Errorf("an empty frame is %x, %v", b, err)
	}
}

// TestPacker: what a Packer has made is not changed by what it makes next, and has the bytes that
// were to come before it.
func TestPacker(t *testing.T) {
	var p message.Packer
	var got [][]byte
	for i := range uint64(3) {
		large := message.Message{Accepted: &message.Accepted{Error: strings.Repeat("x", message.MaxFrame*2/3)}}
		frames, err := p.Frames([]byte{byte(i)}, []message.Message{{Ack: &message.Ack{Epoch: i}}, large, large})
		if err != nil || len(frames) != 2 {
			t.Fatalf("%d frames, %v", len(frames), err)
		}
		got = append(got, frames[0])
	}
	for i, f := range got {
		m, err := message.DecodeFrame(f[1:])
		if err != nil || f[0] != byte(i) || len(m) != 2 || m[0].Ack.Epoch != uint64(i) {
			t.Errorf("frame %d is another: %v, %v", i, m, err)
		}
	}
}

// TestPackFrames: many messages become few frames, in order, each within the
// limits and readable; the array's head is right at every size.
func TestPackFrames(t *testing.T) {
	for _, n := range []int{1, 23, 24, 255, 256, message.MaxMessages, message.MaxMessages + 1} {
		messages := make([]message.Message, n)
		for i := range messages {
			messages[i].Ack = &message.Ack{Epoch: uint64(i)}
		}
		checkFrames(t, messages, (n+message.MaxMessages-1)/message.MaxMessages)
	}
	big := make([]message.Message, 5)
	for i := range big {
		big[i].Accepted = &message.Accepted{Error: strings.Repeat("x", message.MaxFrame/2-100)}
	}
	checkFrames(t, big, 3)
}

func checkFrames(t *testing.T, messages []message.Message, want int) {
	t.Helper()
	frames, err := message.PackFrames(messages)
	if err != nil || len(frames) != want {
		t.Fatalf("%d messages became %d frames, want %d (%v)", len(messages), len(frames), want, err)
	}
	n := 0
	for _, f := range frames {
		got, err := message.DecodeFrame(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range got {
			if !reflect.DeepEqual(m, messages[n]) {
				t.Fatalf("message %d changed", n)
			}
			n++
		}
	}
	if n != len(messages) {
		t.Fatalf("%d messages arrived of %d", n, len(messages))
	}
}

func TestEncodeFrameRefuses(t *testing.T) {
	big := message.Message{Accepted: &message.Accepted{Error: strings.Repeat("x", message.MaxFrame)}}
	if _, err := message.EncodeFrame([]message.Message{big}); !errors.Is(err, message.ErrFrame) {
		t.Errorf("got %v for a message that no frame holds", err)
	}
	half := message.Message{Accepted: &message.Accepted{Error: strings.Repeat("x", message.MaxFrame/2)}}
	if _, err := message.EncodeFrame([]message.Message{half, half}); !errors.Is(err, message.ErrFrame) {
		t.Errorf("got %v for two messages that one frame does not hold", err)
	}
}

func TestDecodeFrameRefuses(t *testing.T) {
	encode := func(v any) []byte {
		b, err := task.Encode(v)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for name, b := range map[string][]byte{
		"nothing":     nil,
		"too long":    make([]byte, message.MaxFrame+1),
		"no array":    encode("x"),
		"no message":  encode([]message.Message{{}}),
		"two at once": encode([]message.Message{{Ack: &message.Ack{}, Got: &message.Got{}}}),
		"too many":    encode(slicesOf(message.MaxMessages+1, message.Message{Ack: &message.Ack{}})),
		"too many ended": encode([]message.Message{{Report: &message.Report{Ended: make([]message.Ending,
			message.MaxEndings+1)}}}),
		"too many tasks": encode([]message.Message{{Progress: &message.Progress{Tasks: make([]message.TaskSummary,
			message.MaxProgress+1)}}}),
		"too many lack": encode([]message.Message{{Got: &message.Got{Lacking: make([]message.Range,
			message.MaxLacking+1)}}}),
		"negative slots": encode([]message.Message{{Report: &message.Report{Slots: -1}}}),
		"all withheld":   encode([]message.Message{{Report: &message.Report{Withheld: 101}}}),
		"less withheld":  encode([]message.Message{{Report: &message.Report{Withheld: -1}}}),
		"too many slots": encode([]message.Message{{Report: &message.Report{Slots: overlay.MaxSlots + 1}}}),
		"too many hold": encode([]message.Message{{Place: &message.Place{Holders: map[task.JobID][]task.PeerID{
			"j": make([]task.PeerID, message.MaxHolders+1)}}}}),
		"too many moves": encode([]message.Message{{Ack: &message.Ack{Moves: make([]message.MoveOrder,
			message.MaxMoves+1)}}}),
		"move to nobody": encode([]message.Message{{Ack: &message.Ack{Moves: []message.MoveOrder{{
			As: message.Attempt{Seq: 1}}}}}}),
		"move backwards": encode([]message.Message{{Ack: &message.Ack{Moves: []message.MoveOrder{{To: "p",
			Attempt: message.Attempt{Seq: 1}, As: message.Attempt{Seq: 1}}}}}}),
		"awaits nobody": encode([]message.Message{{Place: &message.Place{Leases: []message.Lease{{
			Attempt: message.Attempt{Seq: 1}, Await: &message.Await{}}}}}}),
		"awaits a later": encode([]message.Message{{Place: &message.Place{Leases: []message.Lease{{
			Await: &message.Await{Worker: "p"}}}}}}),
		"done and more": encode([]message.Message{{Place: &message.Place{Leases: []message.Lease{{Left: -1}}}}}),
		"never done": encode([]message.Message{{Place: &message.Place{Leases: []message.Lease{{Left: task.MaxDuration +
			1}}}}}),
		"too many stay": encode([]message.Message{{Report: &message.Report{Unmoved: make([]message.Unmoved,
			message.MaxMoves+1)}}}),
		"long reason": encode([]message.Message{{Report: &message.Report{Unmoved: []message.Unmoved{{
			Reason: strings.Repeat("x", task.MaxMessage+1)}}}}}),
		"negative bytes": encode([]message.Message{{Report: &message.Report{Ended: []message.Ending{{
			Handed: &message.Handed{Bytes: -1}}}}}}),
		"endless rounds": encode([]message.Message{{Report: &message.Report{Ended: []message.Ending{{
			Handed: &message.Handed{Rounds: message.MaxRounds + 1}}}}}}),
		"no session": encode([]message.Message{{Known: &message.Known{}}}),
		"too many known": encode([]message.Message{{Known: &message.Known{Session: 1,
			Jobs: make([]message.JobDigest, message.MaxKnown+1)}}}),
		"too many wanted": encode([]message.Message{{Wanted: &message.Wanted{Jobs: make([]task.JobID, message.MaxKnown+1)}}}),
		"too many pairs":  encode([]message.Message{{Copy: &message.Copy{Pairs: make([]message.Pair, message.MaxPairs+1)}}}),
		"too many gone":   encode([]message.Message{{Copy: &message.Copy{Gone: make([]task.JobID, message.MaxPairs+1)}}}),
		"too many live": encode([]message.Message{{Copy: &message.Copy{Live: []message.LiveLeases{{
			Leases: make([]message.LiveLease, message.MaxLive+1)}}}}}),
		"long key": encode([]message.Message{{Copy: &message.Copy{Pairs: []message.Pair{{Key: strings.Repeat("k",
			message.MaxKey+1)}}}}}),
		"no kind of hold": encode([]message.Message{{Copy: &message.Copy{Hold: make([]message.Hold, 1)}}}),
		"too many blocks": encode([]message.Message{{Copy: &message.Copy{Hold: []message.Hold{{
			Name: message.HoldName{Kind: message.HoldJob}, CIDs: make([]task.CID, message.MaxHoldCIDs+1)}}}}}),
		"long excuse": encode([]message.Message{{Copied: &message.Copied{Held: []message.HeldBlocks{{
			Name: message.HoldName{Kind: message.HoldJob}, Err: strings.Repeat("x", task.MaxMessage+1)}}}}}),
		"endless array":   {0x9b, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
		"something after": append(encode([]message.Message{}), 0),
	} {
		if _, err := message.DecodeFrame(b); !errors.Is(err, message.ErrFrame) {
			t.Errorf("%s: got error %v, want ErrFrame", name, err)
		}
	}
}

func slicesOf[T any](n int, v T) []T {
	out := make([]T, n)
	for i := range out {
		out[i] = v
	}
	return out
}
