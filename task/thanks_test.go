package task

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"strings"
	"testing"
	"time"

	"godwit/internal/roundtrip"
)

func thankKey(seed byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, ed25519.SeedSize))
}

func thankPeer(seed byte) PeerID { return PeerIDOf(thankKey(seed).Public().(ed25519.PublicKey)) }

// someThanks are of peer 1 to peer 2 on a day.
func someThanks() *Thanks {
	day := int64(20_000)
	return &Thanks{Overlay: string(RawCID([]byte("lab"))), Submitter: thankPeer(1), Worker: thankPeer(2), Day: day,
		Issued: day*86_400 + 60, Given: []Given{{Project: "", Tasks: 1}, {Project: "fit", Tasks: 7, CPU: time.Hour, Fuel: 9}}}
}

func TestThanks(t *testing.T) {
	b, err := someThanks().Sign(thankKey(1))
	if err != nil {
		t.Fatal(err)
	}
	got, err := OpenThanks(b)
	if err != nil || len(got.Given) != 2 || got.Given[1] != someThanks().Given[1] {
		t.Fatalf("got %+v, %v", got, err)
	}
	issued := time.Unix(got.Issued, 0)
	if got.Counts(issued) != nil || got.Counts(issued.Add(-2*time.Minute)) == nil {
		t.Error("thanks count before they were issued, or not when they were")
	}
	// The largest that may be fits what is allowed.
	large := someThanks()
	large.Given = nil
	for i := range MaxProjects {
		large.Given = append(large.Given, Given{Project: string(rune('a'+i)) + strings.Repeat("x", MaxName-1), Tasks: 1 << 32,
			CPU: Day, Fuel: 1 << 62})
	}
	if _, err := large.Sign(thankKey(1)); err != nil {
		t.Error(err)
	}
}

// Nobody signs, and nobody believes, what no submitter can say.
func TestForgedThanks(t *testing.T) {
	for name, forge := range map[string]func(*Thanks){
		"of no overlay":         func(h *Thanks) { h.Overlay = "lab" },
		"to itself":             func(h *Thanks) { h.Worker = h.Submitter },
		"to nobody":             func(h *Thanks) { h.Worker = "" },
		"of tomorrow":           func(h *Thanks) { h.Day++ },
		"of a day before time":  func(h *Thanks) { h.Day = -1 },
		"for nothing":           func(h *Thanks) { h.Given = nil },
		"for an empty project":  func(h *Thanks) { h.Given[1] = Given{Project: "fit"} },
		"for less than nothing": func(h *Thanks) { h.Given[1].CPU = -1 },
		"in disorder":           func(h *Thanks) { h.Given[0].Project = "z" },
		"twice":                 func(h *Thanks) { h.Given[0].Project = "fit" },
		"by too many projects":  func(h *Thanks) { h.Given = make([]Given, MaxProjects+1) },
		"by a long name":        func(h *Thanks) { h.Given[1].Project = strings.Repeat("x", MaxName+1) },
		"by a name that plays":  func(h *Thanks) { h.Given[1].Project = "a\x1b[2J" },
		"for too much time":     func(h *Thanks) { h.Given[1].CPU = maxThankedCores*Day + 1 },
		"for too much together": func(h *Thanks) { h.Given[0].CPU, h.Given[1].CPU = maxThankedCores*Day, 1 },
		"for too many tasks":    func(h *Thanks) { h.Given[1].Tasks = maxThankedTasks + 1 },
		"for too much fuel":     func(h *Thanks) { h.Given[1].Fuel = maxThankedFuel },
	} {
		h := someThanks()
		forge(h)
		if _, err := h.Sign(thankKey(1)); err == nil {
			t.Errorf("thanks %s are signed", name)
		}
		body, err := Encode(h)
		if err != nil {
			continue // nobody can send it either
		}
		b, err := Encode(&signedThanks{body, sign(thankKey(1), thanksDomain, body)})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := OpenThanks(b); err == nil {
			t.Errorf("thanks %s are believed", name)
		}
	}
	if _, err := someThanks().Sign(thankKey(3)); err == nil {
		t.Error("another's thanks are signed")
	}
	body, err := Encode(someThanks())
	if err != nil {
		t.Fatal(err)
	}
	for name, sig := range map[string][]byte{"another's": sign(thankKey(3), thanksDomain, body), "none": nil,
		"of something else": sign(thankKey(1), tallyDomain, body)} {
		b, err := Encode(&signedThanks{body, sig})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := OpenThanks(b); !errors.Is(err, ErrSignature) {
			t.Errorf("with a signature that is %s: %v", name, err)
		}
	}
	if _, err := OpenThanks(make([]byte, MaxThanks+1)); err == nil {
		t.Error("what is too long is read")
	}
}

// Who ended a task is thanked for it, and those before for their parts; nobody for more than his lease allowed.
func TestGifts(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	ago := func(d time.Duration) int64 { return now.Add(-d).UnixMilli() }
	link := func(of byte, fuel uint64, cpu, since time.Duration, prior []byte) Link {
		return Link{Fuel: fuel, CPU: cpu, Voucher: Voucher{Worker: thankPeer(of), Prior: prior,
			Receipt: Receipt{Issued: ago(since)}}}
	}
	of := func(worker byte, cpu time.Duration, fuel uint64, lease time.Duration, chain ...Link) *Result {
		return &Result{Worker: thankPeer(worker), Outcome: Completed, CPU: cpu, Receipt: &Receipt{Issued: ago(lease)},
			Trail: &Trail{Pass: 1, Fuel: fuel, Began: chain}}
	}
	failed := of(1, time.Second, 1, time.Hour)
	failed.Outcome = Trapped
	const s = time.Second
	for name, c := range map[string]struct {
		result *Result
		want   []Given
	}{
		"plain":         {of(1, 5*s, 100, time.Minute), []Given{{Tasks: 1, CPU: 5 * s, Fuel: 100}}},
		"failed":        {failed, nil},
		"boasted time":  {of(1, 100*time.Hour, 1, time.Minute), []Given{{Tasks: 1, CPU: 2 * time.Minute, Fuel: 1}}},
		"boasted fuel":  {of(1, s, 1<<63, time.Minute), []Given{{Tasks: 1, CPU: s, Fuel: 120_000 * fastestFuel}}},
		"lease to come": {of(1, time.Hour, 1, -time.Hour), []Given{{Tasks: 1, CPU: time.Minute, Fuel: 1}}},
		"moved": {of(1, 5*s, 100, time.Minute, link(2, 60, 9*s, time.Hour, nil)),
			[]Given{{Tasks: 1, CPU: 5 * s, Fuel: 40}, {CPU: 9 * s, Fuel: 60}}},
		"moved twice": {of(1, 5*s, 100, time.Minute, link(2, 60, 9*s, time.Hour, []byte{1}),
			link(3, 20, 4*s, 2*time.Hour, nil)),
			[]Given{{Tasks: 1, CPU: 5 * s, Fuel: 40}, {CPU: 5 * s, Fuel: 40}, {CPU: 4 * s, Fuel: 20}}},
		"first not shown": {of(1, 5*s, 100, time.Minute, link(2, 60, 9*s, time.Hour, []byte{1})),
			[]Given{{Tasks: 1, CPU: 5 * s, Fuel: 40}}},
		"chain beyond end": {of(1, 5*s, 100, time.Minute, link(2, 200, 9*s, time.Hour, nil)),
			[]Given{{Tasks: 1, CPU: 5 * s}, {CPU: 9 * s, Fuel: 200}}},
	} {
		var got []Given
		for i, g := range Gifts(c.result, now.Add(-200*time.Hour), now) {
			got = append(got, g.Given)
			if want := thankPeer(byte(i + 1)); g.Worker != want {
				t.Errorf("%s: part %d is of %s, want %s", name, i, g.Worker, want)
			}
		}
		if len(got) != len(c.want) {
			t.Fatalf("%s: got %+v", name, got)
		}
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("%s: part %d is %+v, want %+v", name, i, got[i], c.want[i])
			}
		}
	}
}

// FuzzThanks: hostile bytes are refused or read, also where a submitter signed them, and what is read is one thing.
func FuzzThanks(f *testing.F) {
	b, err := someThanks().Sign(thankKey(1))
	if err != nil {
		f.Fatal(err)
	}
	body, err := Encode(someThanks())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b, false)
	f.Add(body, true)
	f.Add([]byte{0xa2, 0x01, 0x40, 0x02, 0x40}, false)
	f.Fuzz(func(t *testing.T, b []byte, signs bool) {
		if signs {
			var err error
			if b, err = Encode(&signedThanks{b, sign(thankKey(1), thanksDomain, b)}); err != nil {
				t.Fatal(err)
			}
		}
		if h, err := OpenThanks(b); err == nil {
			roundtrip.Check(t, h, func(h *Thanks) ([]byte, error) { return h.Sign(thankKey(1)) }, OpenThanks)
		}
	})
}

// BenchmarkGifts is what a result costs its submitter; signing thanks is what many share.
func BenchmarkGifts(b *testing.B) {
	r := &Result{Worker: thankPeer(1), Outcome: Completed, CPU: time.Second, Receipt: &Receipt{},
		Trail: &Trail{Pass: 1, Fuel: 100}}
	now := time.Unix(1_700_000_000, 0)
	b.Run("gift", func(b *testing.B) {
		for b.Loop() {
			Gifts(r, now, now)
		}
	})
	b.Run("sign", func(b *testing.B) {
		h, key := someThanks(), thankKey(1)
		for b.Loop() {
			if _, err := h.Sign(key); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("verify a result", func(b *testing.B) {
		r := &Result{Outcome: Completed}
		r.Task.Job = JobID((&Record{PublicKey: make([]byte, 32), Signature: make([]byte, 64)}).ID())
		if err := r.Sign(thankKey(1)); err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			if err := r.Verify(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
