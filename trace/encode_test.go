package trace

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"godwit/internal/roundtrip"
)

func TestEncodedHistoryComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h History
		drawHistory(t, &h)
		from := rapid.IntRange(0, h.Len()).Draw(t, "from")
		to := rapid.IntRange(from, h.Len()).Draw(t, "to")
		b := h.AppendSpells(nil, from, to)
		if len(b) > MaxEncoded(to-from) {
			t.Fatalf("%d bytes for %d spells", len(b), to-from)
		}
		back, err := DecodeSpells(b, to-from)
		if err != nil {
			t.Fatalf("%v: %x", err, b)
		}
		if back.Len() != to-from {
			t.Fatalf("%d spells, want %d", back.Len(), to-from)
		}
		for i := range back.Len() {
			if got, want := back.Spell(i), h.Spell(from+i); got != want {
				t.Fatalf("spell %d is %v, want %v", i, got, want)
			}
		}
	})
}

func TestDecodeRefuses(t *testing.T) {
	var h History
	for i, s := range []State{Available, Unavailable, Available} {
		if err := h.Append(at(float64(i)), s, 1); err != nil {
			t.Fatal(err)
		}
	}
	h.Extend(at(3))
	good := h.AppendSpells(nil, 0, 3)
	if _, err := DecodeSpells(good, 2); err == nil || !strings.Contains(err.Error(), "3 spells, at most 2 are taken") {
		t.Errorf("too many spells: %v", err)
	}
	for _, c := range []struct {
		b    string
		want string
	}{
		{"", "cut short"},
		{"\x0f\x00", "unknown version 0xf"},
		{"\x13\x00", "unknown version"},
		{"\x11\x00", "not the shortest"},          // nothing has the smallest unit
		{"\x10\x80\x00", "not the shortest"},      // a long zero
		{"\x10\x01", "1 spells in 0 bytes"},       //
		{"\x10\xff\xff\x03\x00\x00", "in 2 byte"}, // allocates nothing for them
		{"\x10\x02\x02\x00\x08", "no length"},
		{"\x10\x02\x02\x08\x08", "two spells alike"},
		{"\x10\x01\x02\x0f", "unknown state 7"},
		{"\x10\x01\x02\x0e\xc8", "two hundredths"}, // 200 of 200 is code 0
		{"\x10\x01\x02\x0e", "cut short"},
		{"\x10\x01\x00\xc0\x3e", "not the shortest"}, // 1000 ms, from 0, is a second
		{"\x10\x01\x02\x08\x00", "1 bytes after"},
		{"\x10\x01\x02\xf8\xff\xff\xff\xff\xff\xff\xff\xff\x01", "outside the calendar"},
		{"\x10\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x08", "outside the calendar"},
	} {
		if _, err := DecodeSpells([]byte(c.b), 1<<20); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%x: %v, want %s", c.b, err, c.want)
		}
	}
}

// TestBytesASpell: a few bytes a spell, on made records and on real ones.
func TestBytesASpell(t *testing.T) {
	check := func(name string, tr *Trace) {
		bytes, spells := 0, 0
		for _, h := range tr.Hosts {
			bytes += len(h.History.AppendSpells(nil, 0, h.History.Len()))
			spells += h.History.Len()
		}
		per := float64(bytes) / float64(spells)
		t.Logf("%s: %.2f bytes a spell (%d spells)", name, per, spells)
		if per > 3.5 {
			t.Errorf("%s: %.2f bytes a spell", name, per)
		}
	}
	for _, kind := range []string{"ucb", "sdsc", "deug", "office"} {
		tr, err := Synthesize(kind, SynthConfig{Hosts: 100, Days: 28})
		if err != nil {
			t.Fatal(err)
		}
		check(kind, tr)
	}
	check("relays", readReal(t, "relays", "sessions.csv.gz"))
	check("phones", readReal(t, "phones", "availability_3state_batt50.csv.gz"))
}

func FuzzDecodeSpells(f *testing.F) {
	var h History
	for i, s := range []State{Available, Unavailable, Available, Leaving} {
		_ = h.Append(at(float64(i)/3), s, float64(i)/4)
	}
	_ = h.Gap(at(70))
	for i := range h.Len() + 1 {
		f.Add(h.AppendSpells(nil, 0, i))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := DecodeSpells(b, 1000)
		if err != nil {
			return
		}
		roundtrip.Same(t, b, h, func(h *History) ([]byte, error) { return h.AppendSpells(nil, 0, h.Len()), nil },
			func(b []byte) (*History, error) { return DecodeSpells(b, 1000) })
	})
}

func FuzzRead(f *testing.F) {
	f.Add("a.csv", "# window: 10h-17h\nhost,start_s,end_s,state,cpu,ghz\na,0,1,available,0.5,2\n")
	f.Add("a.tab", "0\t0\t7\t1\tn7\t1\t1000\t1010\tNULL\n")
	f.Add("a.avt", "a 2 0 10 15 20\n")
	f.Add("a", "0 1 110653\n")
	f.Fuzz(func(t *testing.T, name, text string) {
		tr, err := Read(name, strings.NewReader(text), ReadOptions{})
		if err != nil {
			return
		}
		if err := Write(&bytes.Buffer{}, tr, CSV); err != nil {
			t.Fatal(err)
		}
		if tr.Days() < 100 {
			if _, err := Describe(tr); err != nil {
				t.Fatal(err)
			}
		}
	})
}
