package task

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"godwit/internal/roundtrip"
)

func testTally() *Tally {
	t := &Tally{Overlay: "lab", Teller: PeerIDOf(testKey(1).Public().(ed25519.PublicKey)), Issued: 1e9,
		Shown: [][]byte{make([]byte, 32)}}
	for i := range 3 {
		t.Rows = append(t.Rows, TallyRow{Worker: PeerID(fmt.Sprintf("w%d", i)), Right: uint64(100 * (i + 1))})
	}
	t.Rows[2] = TallyRow{Worker: "w2", Refused: true}
	return t
}

func TestTally(t *testing.T) {
	b, err := testTally().Sign(testKey(1))
	if err != nil {
		t.Fatal(err)
	}
	got, err := OpenTally(b)
	if err != nil {
		t.Fatal(err)
	}
	if r := got.Rows[1]; len(got.Rows) != 3 || r.Tasks() != 2 || r.Refused || !got.Rows[2].Refused {
		t.Errorf("%+v", got)
	}
	for at, want := range map[time.Duration]bool{0: true, -time.Hour: false, TallyLife: false, TallyLife - 1: true,
		-30 * time.Second: true} {
		if got.Counts(time.Unix(1e9, 0).Add(at)) != want {
			t.Errorf("%v after it was issued it counts: %v", at, !want)
		}
	}
	if b, err = testTally().Sign(testKey(2)); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenTally(b); !errors.Is(err, ErrSignature) {
		t.Errorf("signed by another: %v", err)
	}
	if Tallied(1.5) != 150 || Tallied(1e300) != MaxTallied || Tallied(-1) != 0 {
		t.Error("tasks are not so many hundredths")
	}
}

// A tally at all its bounds is one, and beyond any of them none.
func TestTallyBounds(t *testing.T) {
	full := testTally()
	full.Rows, full.Shown = nil, slices.Repeat([][]byte{make([]byte, 32)}, MaxTallyShown)
	for i := range MaxTallyRows {
		worker := PeerID(fmt.Sprintf("%03d%s", i, strings.Repeat("w", 49)))
		full.Rows = append(full.Rows, TallyRow{Worker: worker, Right: MaxTallied})
	}
	if b, err := full.Sign(testKey(1)); err != nil {
		t.Error(err)
	} else if _, err := OpenTally(b); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(*Tally){
		"too many rows":         func(t *Tally) { t.Rows = append(t.Rows, TallyRow{Worker: "x", Right: 1}) },
		"too many shown":        func(t *Tally) { t.Shown = append(t.Shown, t.Shown[0]) },
		"a name of no hash":     func(t *Tally) { t.Shown[0] = nil },
		"out of order":          func(t *Tally) { t.Rows[0], t.Rows[1] = t.Rows[1], t.Rows[0] },
		"twice":                 func(t *Tally) { t.Rows[1] = t.Rows[0] },
		"of nobody":             func(t *Tally) { t.Rows[0].Worker = "" },
		"of itself":             func(t *Tally) { t.Rows = []TallyRow{{Worker: t.Teller, Right: 1}} },
		"too much":              func(t *Tally) { t.Rows[0].Right++ },
		"nothing":               func(t *Tally) { t.Rows[0].Right = 0 },
		"right and refused":     func(t *Tally) { t.Rows[0].Refused = true },
		"before there was time": func(t *Tally) { t.Issued = -1 },
		"long after":            func(t *Tally) { t.Issued = 1 << 62 },
	} {
		changed := *full
		changed.Rows, changed.Shown = slices.Clone(full.Rows), slices.Clone(full.Shown)
		change(&changed)
		if _, err := changed.Sign(testKey(1)); err == nil {
			t.Errorf("%s: it is signed", name)
		}
		body, err := Encode(&changed)
		if err != nil {
			t.Fatal(err)
		}
		b, err := Encode(&signedTally{body, sign(testKey(1), tallyDomain, body)})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := OpenTally(b); err == nil {
			t.Errorf("%s: it is read", name)
		}
	}
}

// Hostile bytes are refused, or are a tally that is signed and read again as the same; a hostile
// teller has a key, too.
func FuzzTally(f *testing.F) {
	b, err := testTally().Sign(testKey(1))
	if err != nil {
		f.Fatal(err)
	}
	body, err := Encode(testTally())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b, false)
	f.Add(body, true)
	f.Fuzz(func(t *testing.T, b []byte, signs bool) {
		if signs {
			if b, err = Encode(&signedTally{b, sign(testKey(1), tallyDomain, b)}); err != nil {
				t.Fatal(err)
			}
		}
		if tally, err := OpenTally(b); err == nil {
			roundtrip.Check(t, tally, func(a *Tally) ([]byte, error) { return a.Sign(testKey(1)) }, OpenTally)
		}
	})
}
