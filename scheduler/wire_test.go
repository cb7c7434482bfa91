package scheduler

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"godwit/overlay"
	"godwit/scheduler/ledger"
	"godwit/task"
)

// everyMessage has one message of each kind.
func everyMessage(tb testing.TB) []Message {
	key, id := identity(1)
	rec := testJob(tb, key, 3, nil)
	name := task.TaskID{Job: rec.ID(), Index: 2}
	a := Attempt{Epoch: 3, Seq: 4}
	r := task.Result{Task: name, Outcome: task.Completed, Outputs: []task.Output{
		{Name: "stdout", CID: task.RawCID([]byte("x")), Size: 1, Inline: []byte("x")},
	}}
	if err := r.Sign(key); err != nil {
		tb.Fatal(err)
	}
	row, facts := new(ledger.Row), &ledger.Facts{Done: ledger.Set{{From: 0, To: 1}}}
	row.AddResult(a, r)
	return []Message{
		{Submit: &Submit{Record: rec, Have: []Range{{From: 1, To: 2}}}},
		{Accepted: &Accepted{Job: rec.ID(), Error: "no", RetryAfter: time.Second}},
		{Progress: &Progress{Job: rec.ID(), Summary: JobSummary{State: JobDone, Total: 3}, Tasks: []TaskSummary{{
			Index: 2, Results: []task.Result{r}, Attempts: []AttemptLog{{Attempt: a, Worker: id, Start: start, Outcome: "completed"}},
		}}}},
		{Got: &Got{Job: rec.ID(), Have: []Range{{From: 0, To: 3}}}},
		{Cancel: &Cancel{Job: rec.ID(), Signature: task.SignCancel(rec.ID(), key)}},
		{Place: &Place{Epoch: 3, Leases: []Lease{{Task: name, Attempt: a, TTL: time.Second, Left: task.MaxDuration}}, Holders: map[task.JobID][]task.PeerID{rec.ID(): {id}}}},
		{Report: &Report{Epoch: 3, Slots: 4, Held: []Held{{Task: name, Attempt: a}}, Ended: []Ending{{Attempt: a, Result: r}}, Refused: []Refusal{{Task: name, Attempt: a, Reason: "no"}}, Full: true}},
		{Report: &Report{
			Epoch: 3, Held: []Held{{Task: name, Attempt: a, Running: true, Fixed: true}}, Withheld: 35,
			Saved: []SavedState{{Task: name, Attempt: a, Checkpoint: Checkpoint{CID: task.RawCID([]byte("state")), Fuel: 7, CPU: time.Second}}}, Full: true,
		}},
		{Ack: &Ack{Epoch: 3, Drop: []AttemptName{{Task: name, Attempt: a, Reason: DropMoved}}}},
		{Ack: &Ack{Epoch: 3, Moves: []MoveOrder{{Task: name, Attempt: a, To: id, As: Attempt{Epoch: 3, Seq: 5}, Urgent: true}}}},
		{Place: &Place{Epoch: 3, Leases: []Lease{{Task: name, Attempt: Attempt{Epoch: 3, Seq: 5}, TTL: time.Second, Await: &Await{Worker: id, Attempt: a}}}, Holders: map[task.JobID][]task.PeerID{}}},
		{Report: &Report{
			Epoch: 3, Slots: 1, Full: true, Hands: true, Unmoved: []Unmoved{{Task: name, Attempt: a, As: Attempt{Epoch: 3, Seq: 5}, Reason: "refused"}},
			Held:  []Held{{Task: name, Attempt: Attempt{Epoch: 3, Seq: 5}, Awaiting: true, After: a}, {Task: name, Attempt: a, Running: true, Moving: Attempt{Epoch: 3, Seq: 5}}},
			Ended: []Ending{{Attempt: a, Result: r, Handed: &Handed{To: id, As: Attempt{Epoch: 3, Seq: 5}, Bytes: 1 << 20, State: 1 << 26, Rounds: 3, Took: time.Second, Down: time.Millisecond}}},
		}},
		{Ack: &Ack{Epoch: 3, Ended: []AttemptName{{Task: name, Attempt: a}}, Drop: []AttemptName{{Task: name, Attempt: a, Reason: DropRecall}}}},
		{Got: &Got{Job: rec.ID(), Final: true, Lacking: []Range{{From: 0, To: 3}}}},
		{Known: &Known{Epoch: 3, Session: 9, Seq: 1, Jobs: []JobDigest{{Job: rec.ID(), Digest: [digestLen]byte{1, 2}}}}},
		{Known: &Known{Epoch: 3, Session: 9, Seq: 2, Pairs: []Pair{{ledger.JobKey(rec.ID()), rec.Encode()}, {ledger.FactsKey(rec.ID()), facts.Encode()}, {ledger.RowKey(name), row.Encode()}}}},
		{Known: &Known{Epoch: 3, Session: 9, Seq: 3, Last: true}},
		{Wanted: &Wanted{Epoch: 3, Session: 9, Seq: 1, Jobs: []task.JobID{rec.ID()}, Done: true, Follow: true}},
		{Copy: &Copy{
			Epoch: 3, Session: 9, Seq: 1, Pairs: []Pair{{ledger.JobKey(rec.ID()), rec.Encode()}, {ledger.RowKey(name), row.Encode()}}, Gone: []task.JobID{rec.ID()},
			Live: []LiveLeases{{name, []LiveLease{{Worker: id, Attempt: a, Start: start, To: id, As: Attempt{Epoch: 3, Seq: 5}}}}}, Hold: []Hold{{HoldName{name, HoldOutputs}, []task.CID{r.Outputs[0].CID}, []task.PeerID{id}}},
		}},
		{Copied: &Copied{Epoch: 3, Session: 9, Seq: 1, Gap: true, Held: []HeldBlocks{{HoldName{name, HoldJob}, "gone"}}}},
	}
}

func TestFrameRoundTrip(t *testing.T) {
	want := everyMessage(t)
	b, err := EncodeFrame(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := DecodeFrame(b)
	if err != nil {
		t.Fatal(err)
	}
	again, err := EncodeFrame(got)
	if err != nil || !bytes.Equal(again, b) {
		t.Errorf("encoding again gives other bytes (%v)", err)
	}
	if !reflect.DeepEqual(got[0], want[0]) || !reflect.DeepEqual(got[5], want[5]) {
		t.Errorf("got %+v", got)
	}
	if b, err = EncodeFrame(nil); err != nil || len(b) != 1 {
		t.Errorf("an empty frame is %x, %v", b, err)
	}
}

// TestPackFrames: many messages become few frames, in order, each within the
// limits and readable; the array's head is right at every size.
func TestPackFrames(t *testing.T) {
	for _, n := range []int{1, 23, 24, 255, 256, MaxMessages, MaxMessages + 1} {
		messages := make([]Message, n)
		for i := range messages {
			messages[i].Ack = &Ack{Epoch: uint64(i)}
		}
		checkFrames(t, messages, (n+MaxMessages-1)/MaxMessages)
	}
	big := make([]Message, 5)
	for i := range big {
		big[i].Accepted = &Accepted{Error: strings.Repeat("x", MaxFrame/2-100)}
	}
	checkFrames(t, big, 3)
}

func checkFrames(t *testing.T, messages []Message, want int) {
	t.Helper()
	frames, err := PackFrames(messages)
	if err != nil || len(frames) != want {
		t.Fatalf("%d messages became %d frames, want %d (%v)", len(messages), len(frames), want, err)
	}
	n := 0
	for _, f := range frames {
		got, err := DecodeFrame(f)
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
	big := Message{Accepted: &Accepted{Error: strings.Repeat("x", MaxFrame)}}
	if _, err := EncodeFrame([]Message{big}); !errors.Is(err, ErrFrame) {
		t.Errorf("got %v for a message that no frame holds", err)
	}
	half := Message{Accepted: &Accepted{Error: strings.Repeat("x", MaxFrame/2)}}
	if _, err := EncodeFrame([]Message{half, half}); !errors.Is(err, ErrFrame) {
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
		"nothing":         nil,
		"too long":        make([]byte, MaxFrame+1),
		"no array":        encode("x"),
		"no message":      encode([]Message{{}}),
		"two at once":     encode([]Message{{Ack: &Ack{}, Got: &Got{}}}),
		"too many":        encode(slicesOf(MaxMessages+1, Message{Ack: &Ack{}})),
		"too many ended":  encode([]Message{{Report: &Report{Ended: make([]Ending, MaxEndings+1)}}}),
		"too many tasks":  encode([]Message{{Progress: &Progress{Tasks: make([]TaskSummary, MaxProgress+1)}}}),
		"too many lack":   encode([]Message{{Got: &Got{Lacking: make([]Range, MaxLacking+1)}}}),
		"negative slots":  encode([]Message{{Report: &Report{Slots: -1}}}),
		"all withheld":    encode([]Message{{Report: &Report{Withheld: 101}}}),
		"less withheld":   encode([]Message{{Report: &Report{Withheld: -1}}}),
		"too many slots":  encode([]Message{{Report: &Report{Slots: overlay.MaxSlots + 1}}}),
		"too many hold":   encode([]Message{{Place: &Place{Holders: map[task.JobID][]task.PeerID{"j": make([]task.PeerID, MaxHolders+1)}}}}),
		"too many moves":  encode([]Message{{Ack: &Ack{Moves: make([]MoveOrder, MaxMoves+1)}}}),
		"move to nobody":  encode([]Message{{Ack: &Ack{Moves: []MoveOrder{{As: Attempt{Seq: 1}}}}}}),
		"move backwards":  encode([]Message{{Ack: &Ack{Moves: []MoveOrder{{To: "p", Attempt: Attempt{Seq: 1}, As: Attempt{Seq: 1}}}}}}),
		"awaits nobody":   encode([]Message{{Place: &Place{Leases: []Lease{{Attempt: Attempt{Seq: 1}, Await: &Await{}}}}}}),
		"awaits a later":  encode([]Message{{Place: &Place{Leases: []Lease{{Await: &Await{Worker: "p"}}}}}}),
		"done and more":   encode([]Message{{Place: &Place{Leases: []Lease{{Left: -1}}}}}),
		"never done":      encode([]Message{{Place: &Place{Leases: []Lease{{Left: task.MaxDuration + 1}}}}}),
		"too many stay":   encode([]Message{{Report: &Report{Unmoved: make([]Unmoved, MaxMoves+1)}}}),
		"long reason":     encode([]Message{{Report: &Report{Unmoved: []Unmoved{{Reason: strings.Repeat("x", task.MaxMessage+1)}}}}}),
		"negative bytes":  encode([]Message{{Report: &Report{Ended: []Ending{{Handed: &Handed{Bytes: -1}}}}}}),
		"endless rounds":  encode([]Message{{Report: &Report{Ended: []Ending{{Handed: &Handed{Rounds: maxRounds + 1}}}}}}),
		"no session":      encode([]Message{{Known: &Known{}}}),
		"too many known":  encode([]Message{{Known: &Known{Session: 1, Jobs: make([]JobDigest, MaxKnown+1)}}}),
		"too many wanted": encode([]Message{{Wanted: &Wanted{Jobs: make([]task.JobID, MaxKnown+1)}}}),
		"too many pairs":  encode([]Message{{Copy: &Copy{Pairs: make([]Pair, MaxPairs+1)}}}),
		"too many gone":   encode([]Message{{Copy: &Copy{Gone: make([]task.JobID, MaxPairs+1)}}}),
		"too many live":   encode([]Message{{Copy: &Copy{Live: []LiveLeases{{Leases: make([]LiveLease, maxLive+1)}}}}}),
		"long key":        encode([]Message{{Copy: &Copy{Pairs: []Pair{{Key: strings.Repeat("k", maxKey+1)}}}}}),
		"no kind of hold": encode([]Message{{Copy: &Copy{Hold: make([]Hold, 1)}}}),
		"too many blocks": encode([]Message{{Copy: &Copy{Hold: []Hold{{Name: HoldName{Kind: HoldJob}, CIDs: make([]task.CID, MaxHoldCIDs+1)}}}}}),
		"long excuse":     encode([]Message{{Copied: &Copied{Held: []HeldBlocks{{HoldName{Kind: HoldJob}, strings.Repeat("x", task.MaxMessage+1)}}}}}),
		"endless array":   {0x9b, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
		"something after": append(encode([]Message{}), 0),
	} {
		if _, err := DecodeFrame(b); !errors.Is(err, ErrFrame) {
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

// FuzzDecodeFrame checks that no bytes make DecodeFrame panic, and that the
// machines take whatever it accepts.
func FuzzDecodeFrame(f *testing.F) {
	for _, m := range everyMessage(f) {
		b, err := EncodeFrame([]Message{m})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		messages, err := DecodeFrame(b)
		if err != nil {
			return
		}
		key, self := identity(0)
		_, from := identity(1)
		cfg := Default()
		cfg.Migration = "reactive"
		c, w, s := NewCoordinator(self, cfg, 3), NewWorker(self, cfg.Timing, cfg.Worker), NewSubmitter(self, cfg.Timing, cfg.Submitter, key)
		s.Step(start, Offer{Record: testJob(t, key, 3, nil)})
		s.Step(start, LeaderChanged{Leader: from, Epoch: 1})
		w.Step(start, LeaderChanged{Leader: from, Epoch: 1})
		w.Step(start, OwnerState{Slots: 1})
		c.Step(start, GroupIs{Followers: []task.PeerID{from}})
		r := NewReplica(self, cfg)
		r.Step(start, LeaderChanged{Leader: from, Epoch: 3})
		r.session.id, r.session.state = 9, following // as a leader that guesses well would find it
		for _, m := range messages {
			for _, e := range c.Step(start, Received{From: from, Message: m}) {
				if e, ok := e.(Fetch); ok {
					c.Step(start, Fetched{Key: e.Key})
				}
			}
			for _, e := range r.Step(start, Received{From: from, Message: m}) {
				if e, ok := e.(Fetch); ok {
					r.Step(start, Fetched{Key: e.Key})
				}
			}
			w.Step(start, Received{From: from, Message: m})
			s.Step(start, Received{From: from, Message: m})
		}
		c.Step(start.Add(time.Hour), Wake{})
		r.Step(start.Add(time.Hour), Wake{})
		c, _ = r.Lead(start.Add(time.Hour), 4)
		c.Step(start.Add(2*time.Hour), Wake{})
	})
}
