package overlay

import (
	"bytes"
	"testing"
	"time"

	"godwit/internal/roundtrip"
	"godwit/trace"
	"pgregory.net/rapid"
)

// drawHistory draws a history of up to three days.
func drawHistory(t *rapid.T) *trace.History {
	h := &trace.History{}
	now := epoch.Add(time.Duration(rapid.IntRange(0, 86_400_000).Draw(t, "begin")) * time.Millisecond)
	for range rapid.IntRange(1, 40).Draw(t, "changes") {
		if err := h.Append(now, trace.State(rapid.IntRange(0, 4).Draw(t, "state")),
			rapid.SampledFrom([]float64{0.5, 1}).Draw(t, "cpu")); err != nil {
			t.Fatal(err)
		}
		now = now.Add(time.Duration(rapid.IntRange(1, 3*86_400_000/40).Draw(t, "length")) * time.Millisecond)
		h.Extend(now)
	}
	return h
}

// Cut, signed, sent, opened and joined in any order, a history is what it was.
func TestSegmentsComeBack(t *testing.T) {
	key, peer := someone(1)
	rapid.Check(t, func(t *rapid.T) {
		h := drawHistory(t)
		cut, err := Segments(h, time.Time{}, peer, key)
		if err != nil {
			t.Fatal(err)
		}
		var opened []Segment
		for _, s := range cut {
			b, err := s.Encode()
			if err != nil {
				t.Fatal(err)
			}
			o, err := OpenSegment(b, h.Until())
			if err != nil {
				t.Fatal(err)
			}
			opened = append(opened, o)
		}
		joined, err := Join(rapid.Permutation(opened).Draw(t, "order"))
		if err != nil {
			t.Fatal(err)
		}
		want, got := h.AppendSpells(nil, 0, h.Len()), joined.AppendSpells(nil, 0, joined.Len())
		if !bytes.Equal(got, want) {
			t.Fatalf("%d spells until %v became %d until %v", h.Len(), h.Until(), joined.Len(), joined.Until())
		}
	})
}

// Cutting from a later time gives the same segments, without those of days
// before: a segment that grew replaces the one it was.
func TestSegmentsFrom(t *testing.T) {
	key, peer := someone(1)
	rapid.Check(t, func(t *rapid.T) {
		h := drawHistory(t)
		from := h.Since().Add(time.Duration(rapid.IntRange(0, int(h.Until().Sub(h.Since())/time.Second)).Draw(t,
			"from")) * time.Second)
		all, _ := Segments(h, time.Time{}, peer, key)
		some, err := Segments(h, from, peer, key)
		if err != nil {
			t.Fatal(err)
		}
		for len(all) > len(some) {
			all = all[1:]
		}
		for i := range some {
			a, _ := all[i].Encode()
			b, _ := some[i].Encode()
			if !bytes.Equal(a, b) {
				t.Fatalf("segment %d differs", i)
			}
		}
	})
}

func TestOpenSegmentRefuses(t *testing.T) {
	key, peer := someone(1)
	day := dayOf(epoch)
	make := func(change func(*Segment)) []byte {
		h := &trace.History{}
		if err := h.Append(day.Add(time.Hour), trace.Available, 1); err != nil {
			t.Fatal(err)
		}
		h.Extend(day.Add(2 * time.Hour))
		s := Segment{Peer: peer, Spells: h}
		change(&s)
		if err := s.sign(key); err != nil {
			t.Fatal(err)
		}
		b, err := s.Encode()
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	good := make(func(*Segment) {})
	if _, err := OpenSegment(good, day.Add(2*time.Hour)); err != nil {
		t.Fatal(err)
	}
	forged := bytes.Clone(good)
	forged[len(forged)-1] ^= 1
	for name, b := range map[string][]byte{
		"nothing":   nil,
		"cut short": good[:len(good)-1],
		"too long":  append(bytes.Clone(good), bytes.Repeat([]byte{0}, MaxSegmentBytes)...),
		"forged":    forged,
		"two days":  make(func(s *Segment) { s.Spells.Extend(day.Add(25 * time.Hour)) }),
		"empty":     make(func(s *Segment) { s.Spells = &trace.History{} }),
	} {
		if _, err := OpenSegment(b, day.Add(48*time.Hour)); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := OpenSegment(good, day.Add(time.Hour)); err == nil {
		t.Error("accepted a history of the future")
	}
}

// FuzzOpenSegment checks that no bytes make OpenSegment panic.
func FuzzOpenSegment(f *testing.F) {
	key, peer := someone(1)
	h := &trace.History{}
	if err := h.Append(epoch, trace.Available, 1); err != nil {
		f.Fatal(err)
	}
	h.Extend(epoch.Add(time.Minute))
	cut, err := Segments(h, time.Time{}, peer, key)
	if err != nil {
		f.Fatal(err)
	}
	b, _ := cut[0].Encode()
	f.Add(b)
	f.Add(b[:len(b)/2])
	f.Fuzz(func(t *testing.T, in []byte) {
		s, err := OpenSegment(in, epoch.Add(time.Hour))
		if err != nil {
			return
		}
		roundtrip.Same(t, in, s, func(s Segment) ([]byte, error) { return s.Encode() },
			func(b []byte) (Segment, error) { return OpenSegment(b, epoch.Add(time.Hour)) })
	})
}
