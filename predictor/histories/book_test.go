package histories

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"godwit/predictor"
	"godwit/task"
	"godwit/trace"
)

var day0 = time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)

// office is a host that is available from 18:00 to 8:00, for so many days.
func office(days int) *trace.History {
	h := &trace.History{}
	for d := range days {
		at := day0.AddDate(0, 0, d)
		_ = h.Append(at.Add(8*time.Hour), trace.UserPresent, 0)
		_ = h.Append(at.Add(18*time.Hour), trace.Available, 1)
	}
	h.Extend(day0.AddDate(0, 0, days))
	return h
}

// gossip has a book hear n adverts of a member, each with the next part of at most so many bytes.
func gossip(t *testing.T, b *Book, peer task.PeerID, h *trace.History, n, most int) {
	t.Helper()
	for k := range n {
		text := Part(h, uint64(k), most)
		if len(text) > most {
			t.Fatalf("a part of %d bytes, at most %d", len(text), most)
		}
		got, err := trace.DecodeSpells(text, MaxSpells)
		if err != nil {
			t.Fatal(err)
		}
		b.Note(peer, h.Until(), got)
	}
}

// A book that heard adverts answers as a predictor that watched the host.
func TestBookAnswersAsOneThatWatched(t *testing.T) {
	h := office(10)
	for _, most := range []int{64, 512} {
		var b Book
		gossip(t, &b, "host", h, 8, most)
		if got, want := b.Known("host"), h.Until().Sub(h.Since()); got != want {
			t.Errorf("parts of %d bytes: %v are known of %v", most, got, want)
		}
		for _, spec := range []string{"tde", "tde:n=6", "tde:n=3,reading=prefix", "weekly", "tde5"} {
			m, err := predictor.Parse(spec)
			if err != nil {
				t.Fatal(err)
			}
			watched := m.New(&predictor.Pool{})
			for i := range h.Len() {
				s := h.Spell(i)
				watched.Observe(s.Start, s.State)
			}
			for _, at := range []time.Duration{0, 5 * time.Hour, 7*time.Hour + 30*time.Minute} {
				for _, d := range []time.Duration{10 * time.Minute, time.Hour, 5 * time.Hour} {
					now := h.Until().Add(at)
					want, known := watched.Stay(now, d)
					if got, k := b.Stay(spec, "host", now, d); got != want || k != known {
						t.Errorf("%s for %v at %v: %v, %v, want %v, %v", spec, d, at, got, k, want, known)
					}
				}
			}
		}
	}
}

func TestStrangers(t *testing.T) {
	var b Book
	if p, known := b.Stay("tde", "stranger", day0, time.Hour); p != 1 || known {
		t.Errorf("of a stranger %v, %v", p, known)
	}
	gossip(t, &b, "host", office(2), 1, 512)
	if _, known := b.Stay("no such predictor", "host", day0, time.Hour); known {
		t.Error("what is no predictor knows something")
	}
}

// Whatever a member tells later, what it told first stays, and neither the future nor too much is kept.
func TestNobodyRewritesItsPast(t *testing.T) {
	var b Book
	h := office(3)
	gossip(t, &b, "liar", h, 1, 512)
	nicer := &trace.History{}
	_ = nicer.Append(day0, trace.Available, 1)
	nicer.Extend(h.Until().Add(24 * time.Hour))
	b.Note("liar", h.Until(), nicer)
	at := h.Until().Add(-4 * 24 * time.Hour).Add(9 * time.Hour) // before it told anything
	if p, known := b.Stay("tde", "liar", h.Until().Add(9*time.Hour), time.Hour); p != 0 || !known {
		t.Errorf("it is expected to stay with %v through hours in which it said that it was used (%v)", p, at)
	}
	e := b.of["liar"]
	if last := e.spans[len(e.spans)-1].to; last > h.Until().UnixMilli() {
		t.Errorf("%v is known of the future", time.UnixMilli(last).UTC())
	}
	for i := range 4 * MaxSpans {
		part := &trace.History{}
		_ = part.Append(day0.Add(time.Duration(2*i)*time.Minute), trace.Available, 1)
		part.Extend(day0.Add(time.Duration(2*i+1) * time.Minute))
		b.Note("restless", day0.AddDate(0, 0, 30), part)
	}
	if n := len(b.of["restless"].spans); n != MaxSpans {
		t.Errorf("%d spans are kept", n)
	}
}

func TestBookIsBounded(t *testing.T) {
	var b Book
	h := office(1)
	for i := range MaxMembers + 10 {
		b.Note(task.PeerID(fmt.Sprint(i)), day0.AddDate(0, 0, 2).Add(time.Duration(i)*time.Second), h)
	}
	if len(b.of) != MaxMembers || b.of["0"] != nil || b.of[task.PeerID(fmt.Sprint(MaxMembers))] == nil {
		t.Errorf("%d members are kept, the first of them: %v", len(b.of), b.of["0"] != nil)
	}
}

// Parts in any order, with overlaps, come to what they were cut from.
func TestPartsProperty(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		h := &trace.History{}
		at := day0
		for range rapid.IntRange(1, 60).Draw(rt, "spells") {
			state := rapid.SampledFrom([]trace.State{trace.Available, trace.UserPresent, trace.Unavailable}).Draw(rt, "state")
			_ = h.Append(at, state, 1)
			at = at.Add(time.Duration(rapid.IntRange(1, 600).Draw(rt, "minutes")) * time.Minute)
		}
		h.Extend(at)
		most := rapid.IntRange(24, 200).Draw(rt, "bytes")
		order := rapid.Permutation(slices.Collect(func(yield func(int) bool) {
			for k := range 60 {
				if !yield(k) {
					return
				}
			}
		})).Draw(rt, "order")
		var b Book
		for _, k := range order {
			part, err := trace.DecodeSpells(Part(h, uint64(k), most), MaxSpells)
			if err != nil {
				rt.Fatal(err)
			}
			b.Note("host", at, part)
		}
		var want []span
		for i := range h.Len() {
			s := h.Spell(i)
			want = append(want, span{s.Start.UnixMilli(), s.End.UnixMilli(), s.State})
		}
		if got := b.of["host"].spans; !slices.Equal(got, want) {
			rt.Errorf("%v, want %v", got, want)
		}
	})
}
