package handover

import (
	"crypto/sha256"
	"reflect"
	"strings"
	"testing"
	"time"
)

var rightOpen = Open{Overlay: "o", Task: someTask, From: Attempt{1, 2}, As: Attempt{1, 3}}

// Of several that claim one offer, whenever they come, the right one alone is
// welcome.
func TestClaims(t *testing.T) {
	wrongPeer := Opened{1, "another", rightOpen}
	wrongFrom, wrongAs, wrongTask, wrongOverlay := rightOpen, rightOpen, rightOpen, rightOpen
	wrongFrom.From.Seq, wrongAs.As.Seq, wrongTask.Task.Index, wrongOverlay.Overlay = 9, 9, 9, "p"
	all := []Opened{wrongPeer, {2, "source", wrongFrom}, {3, "source", wrongAs}, {4, "source", wrongTask},
		{5, "source", wrongOverlay}, {6, "source", rightOpen}}
	for i, o := range all {
		for _, first := range []bool{false, true} {
			tk := NewTaker(Default())
			events := []Event{someOffer, o}
			if first {
				events = []Event{o, someOffer}
			}
			tk.Step(start, events[0])
			out := tk.Step(start.Add(time.Second), events[1])
			s, _ := out[0].(Send)
			_, welcome := s.Frame.(Welcome)
			r, _ := s.Frame.(Refuse)
			if s.Stream != i+1 || welcome != (i == 5) || !welcome &&
				(r.Later || r.Reason == "" || !reflect.DeepEqual(out[1], Hang{i + 1, ""})) {
				t.Errorf("%+v: %+v", o, out)
			}
		}
	}
	tk := NewTaker(Default())
	for i := range maxClaims + 1 {
		out := tk.Step(start, Opened{i + 1, "source", rightOpen})
		if (len(out) > 0) != (i == maxClaims) {
			t.Errorf("claim %d: %+v", i, out)
		}
	}
	at, _ := tk.NextWake()
	out := tk.Step(at, Wake{})
	if f, ok := out[len(out)-1].(Finish); !ok || f.Outcome != NotOffered || len(out) != 2*maxClaims+1 ||
		at.Sub(start) != Default().OfferWait {
		t.Errorf("after %v: %+v", at.Sub(start), out)
	}
}

// The source may open again while nothing has come on its stream; later another
// is refused.
func TestOpenedAgain(t *testing.T) {
	tk := NewTaker(Default())
	tk.Step(start, someOffer)
	tk.Step(start, Opened{1, "source", rightOpen})
	out := tk.Step(start, Opened{2, "source", rightOpen})
	if !reflect.DeepEqual(out, []Effect{Hang{1, ""}, Send{2, Welcome{}}}) {
		t.Errorf("%+v", out)
	}
	tk.Step(start, Broken{2, "gone"})
	tk.Step(start, Opened{3, "source", rightOpen})
	tk.Step(start, Received{3, Pages{Blocks: []Block{{}}}})
	if out := tk.Step(start, Opened{4, "source", rightOpen}); out[0].(Send).Frame.(Refuse).Later {
		t.Errorf("%+v", out)
	}
	if out := tk.Step(start, Broken{3, "gone"}); out[len(out)-1].(Finish).Outcome != NotArrived {
		t.Errorf("%+v", out)
	}
}

// What breaks the protocol ends the hand-over, with a reason, and no guest
// runs.
func TestOutOfTurn(t *testing.T) {
	m := []byte("m")
	good := sha256.Sum256(m)
	for name, c := range map[string]struct {
		events []Event
		why    string
	}{
		"a round too many": {[]Event{Received{1, Round{N: 2, Manifest: m}}}, "out of turn"},
		"a round before Got": {[]Event{Received{1, Round{N: 1, Manifest: m}}, Received{1, Round{N: 2, Manifest: m}}},
			"out of turn"},
		"Final with a wrong sum": {[]Event{Received{1, Final{N: 1, Manifest: m, Hash: Hash{1}}}}, "hash"},
		"Final of another round": {[]Event{Received{1, Final{N: 2, Manifest: m, Hash: good}}}, "out of turn"},
		"Final without a page": {[]Event{Received{1, Final{N: 1, Manifest: m, Hash: good}}, Inspected{N: 1, Missing: 3}},
			"3 blocks"},
		"Final that is no state": {[]Event{Received{1, Final{N: 1, Manifest: m, Hash: good}},
			Inspected{N: 1, Problem: "damaged"}}, "damaged"},
		"pages after Final": {[]Event{Received{1, Final{N: 1, Manifest: m, Hash: good}}, Received{1, Pages{}}},
			"out of turn"},
		"Welcome":             {[]Event{Received{1, Welcome{}}}, "out of turn"},
		"the source gives up": {[]Event{Received{1, Failed{"cancelled"}}}, "cancelled"},
		"this side gives up":  {[]Event{Cancel{"no disk"}}, "no disk"},
		"it cannot be thawed": {[]Event{Received{1, Final{N: 1, Manifest: m, Hash: good}}, Inspected{N: 1},
			Cancel{"the child died"}}, "the child died"},
	} {
		tk := NewTaker(Default())
		tk.Step(start, someOffer)
		out := tk.Step(start, Opened{1, "source", rightOpen})
		for _, ev := range c.events {
			out = tk.Step(start, ev)
		}
		f, ok := out[len(out)-1].(Finish)
		if !ok || f.Outcome != NotArrived || !strings.Contains(f.Reason, c.why) {
			t.Errorf("%s: %+v", name, out)
		}
		if h, ok := out[len(out)-2].(Hang); !ok || h.Reason == "" {
			t.Errorf("%s: the source is not told: %+v", name, out)
		}
		if name == "it cannot be thawed" && (f.Best == nil || !f.Best.Frozen) {
			t.Errorf("%s: the frozen state is not told: %+v", name, f.Best)
		}
	}
}

// After the Final the guest is this side's, whatever becomes of the stream and
// of the source.
func TestFinalIsEnough(t *testing.T) {
	m := []byte("m")
	for _, ev := range []Event{Broken{1, "gone"}, Received{1, Failed{"gave up"}}, Wake{}} {
		tk := NewTaker(Default())
		tk.Step(start, someOffer)
		tk.Step(start, Opened{1, "source", rightOpen})
		tk.Step(start, Received{1, Final{N: 1, Manifest: m, Hash: sha256.Sum256(m)}})
		tk.Step(start, ev)
		if out := tk.Step(start, Inspected{N: 1}); !reflect.DeepEqual(out, []Effect{Thaw{Manifest: m}}) {
			t.Errorf("%+v: %+v", ev, out)
		}
		out := tk.Step(start, Thawed{})
		if f, ok := out[len(out)-1].(Finish); !ok || f.Outcome != Arrived {
			t.Errorf("%+v: %+v", ev, out)
		}
	}
}

// That bytes come is told once a second, and not when none do.
func TestTaking(t *testing.T) {
	tk := NewTaker(Default())
	tk.Step(start, someOffer)
	tk.Step(start, Opened{1, "source", rightOpen})
	told := 0
	for i := range 100 {
		for _, e := range tk.Step(start.Add(time.Duration(i)*100*time.Millisecond), Moved{Bytes: 10}) {
			if s, ok := e.(Send); ok {
				told++
				if got := s.Frame.(Taking).Bytes; got != uint64(10*(i+1)) {
					t.Errorf("%d bytes told of %d", got, 10*(i+1))
				}
			}
		}
	}
	if told != 10 {
		t.Errorf("told %d times in 10 s", told)
	}
	at, _ := tk.NextWake()
	if out := tk.Step(at, Wake{}); len(out) != 1 {
		t.Errorf("%+v", out)
	}
	at, _ = tk.NextWake()
	if out := tk.Step(at, Wake{}); out[len(out)-1].(Finish).Outcome != NotArrived {
		t.Errorf("silence: %+v", out)
	}
}
