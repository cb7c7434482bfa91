package overlay

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"godwit/internal/roundtrip"
	"godwit/task"
)

// epoch is where the clock of these tests starts.
var epoch = time.Date(2030, 1, 2, 3, 4, 5, 678e6, time.UTC)

// someone returns the key and peer ID of a member; equal seeds are the same
// member.
func someone(seed byte) (ed25519.PrivateKey, task.PeerID) {
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, ed25519.SeedSize))
	return key, task.PeerIDOf(key.Public().(ed25519.PublicKey))
}

// commons is the overlay of these tests.
var commons = func() ID {
	m, err := Named("commons")
	if err != nil {
		panic(err)
	}
	return m.ID()
}()

// advertOf returns a signed advert that OpenAdvert takes at epoch.
func advertOf(tb testing.TB, seed byte, change func(*Advert)) Advert {
	tb.Helper()
	key, peer := someone(seed)
	_, second := someone(seed + 1)
	a := Advert{
		Peer: peer, Overlay: commons, Seq: 7, Issued: epoch, Expires: epoch.Add(time.Minute),
		Addrs: []string{"/ip4/10.0.0.1/tcp/4001"}, State: UserPresent, Slots: 4, Memory: 1 << 30,
		Speed: 1.25, Free: 2, Reach: ReachPublic, Until: epoch.Add(time.Hour), Record: bytes.Repeat([]byte{7}, MaxRecord),
		Spells: []byte{1, 2, 3}, Epoch: 3, Group: []task.PeerID{second}, Rules: 2, Pass: []byte{4, 5},
		Version: "v1", Site: "lab 3", Bits: 3,
	}
	if change != nil {
		change(&a)
	}
	if err := a.Sign(key); err != nil {
		tb.Fatal(err)
	}
	return a
}

func TestAdvertRoundTrip(t *testing.T) {
	want := advertOf(t, 1, nil)
	b, err := want.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := OpenAdvert(b, epoch)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	again, _ := got.Encode()
	if !bytes.Equal(again, b) {
		t.Error("the encoding is not canonical")
	}
}

func TestOpenAdvertRefuses(t *testing.T) {
	tests := []struct {
		name  string
		now   time.Duration // after epoch
		after func(*Advert) // changed behind the signature's back
		want  string
	}{
		{name: "expired", now: time.Minute, want: "expired"},
		{name: "future", now: -MaxSkew - time.Millisecond, want: "future"},
		{name: "forged", after: func(a *Advert) { a.Slots++ }, want: "wrong signature"},
		{name: "no signature", after: func(a *Advert) { a.Signature = nil }, want: "wrong signature"},
		{name: "another's", after: func(a *Advert) { _, a.Peer = someone(9) }, want: "wrong signature"},
		{name: "moved to another overlay", after: func(a *Advert) { a.Overlay = task.RawCID(nil) }, want: "wrong signature"},
		{name: "another's pass", after: func(a *Advert) { a.Pass[0]++ }, want: "wrong signature"},
		{name: "pass", after: func(a *Advert) { a.Pass = make([]byte, MaxPass+1) }, want: "pass"},
		{name: "rules", after: func(a *Advert) { a.Rules = MaxManifestVersion + 1 }, want: "version"},
		{name: "too long a life", after: func(a *Advert) { a.Expires = epoch.Add(MaxAdvertLife + time.Millisecond) },
			want: "lives"},
		{name: "no life", after: func(a *Advert) { a.Expires = epoch }, want: "lives"},
		{name: "before time", after: func(a *Advert) { a.Issued, a.Expires = time.UnixMilli(-1), time.UnixMilli(9) },
			want: "times"},
		{name: "free", after: func(a *Advert) { a.Free = 5 }, want: "free"},
		{name: "reach", after: func(a *Advert) { a.Reach = 3 }, want: "reachability"},
		{name: "leaves before time", after: func(a *Advert) { a.Until = time.Unix(-1, 0) }, want: "leaving"},
		{name: "a group of no leader", after: func(a *Advert) { a.Epoch = 0 }, want: "coordinators"},
		{name: "a crowd", after: func(a *Advert) { a.Group = slices.Repeat(a.Group, MaxGroup) }, want: "list of 7"},
		{name: "record", after: func(a *Advert) { a.Record = make([]byte, MaxRecord+1) }, want: "record"},
		{name: "spells", after: func(a *Advert) { a.Spells = make([]byte, MaxSpells+1) }, want: "spells"},
		{name: "state", after: func(a *Advert) { a.State = 5 }, want: "state 5"},
		{name: "slots", after: func(a *Advert) { a.Slots = -1 }, want: "slots"},
		{name: "memory", after: func(a *Advert) { a.Memory = math.MinInt64 }, want: "memory"},
		{name: "speed", after: func(a *Advert) { a.Speed = MaxSpeed + 1 }, want: "speed"},
		{name: "site", after: func(a *Advert) { a.Site = strings.Repeat("v", MaxSite+1) }, want: "site"},
		{name: "site that does not print", after: func(a *Advert) { a.Site = "a\x1b[2J" }, want: "site"},
		{name: "cell", after: func(a *Advert) { a.Bits = MaxCellBits + 1 }, want: "cell"},
		{name: "version", after: func(a *Advert) { a.Version = strings.Repeat("v", MaxVersion+1) }, want: "version"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := advertOf(t, 1, nil)
			if tt.after != nil {
				tt.after(&a)
			}
			b, err := a.Encode()
			if err != nil {
				t.Fatal(err)
			}
			_, err = OpenAdvert(b, epoch.Add(tt.now))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got error %v, want one with %q", err, tt.want)
			}
		})
	}
}

func TestOpenAdvertRefusesBytes(t *testing.T) {
	good := advertOf(t, 1, nil)
	b, err := good.Encode()
	if err != nil {
		t.Fatal(err)
	}
	for name, in := range map[string][]byte{
		"nothing":   nil,
		"cut short": b[:len(b)-1],
		"followed":  append(bytes.Clone(b), 0),
		"too big":   append(bytes.Clone(b), make([]byte, MaxAdvertBytes)...),
		"an array":  {0x9b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
	} {
		if _, err := OpenAdvert(in, epoch); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestSignRefuses(t *testing.T) {
	a := advertOf(t, 1, nil)
	other, _ := someone(2)
	if err := a.Sign(other); err == nil {
		t.Error("signed with another's key")
	}
	own, _ := someone(1)
	for name, change := range map[string]func(*Advert){
		"addresses": func(a *Advert) { a.Addrs = make([]string, MaxAddrs+1) },
		"address":   func(a *Advert) { a.Addrs = []string{"10.0.0.1:4001"} },
		"speed":     func(a *Advert) { a.Speed = math.NaN() },
		"no peer":   func(a *Advert) { a.Peer = "" },
		"odd peer":  func(a *Advert) { a.Peer = task.PeerID(strings.Repeat("1", 52)) },
		"overlay":   func(a *Advert) { a.Overlay = "x" },
		"a job":     func(a *Advert) { a.Overlay = "bafyreib" + a.Overlay[8:] },
		"no time":   func(a *Advert) { a.Issued = time.Time{} },
	} {
		a := advertOf(t, 1, nil)
		change(&a)
		if err := a.Sign(own); err == nil {
			t.Errorf("%s: signed an advert beyond its bounds", name)
		}
	}
	big := advertOf(t, 1, func(a *Advert) {
		a.Addrs = nil
		for range MaxAddrs {
			a.Addrs = append(a.Addrs, "/dns4/"+strings.Repeat("a", MaxAddrBytes+1)+"/tcp/1")
		}
	})
	if _, err := big.Encode(); err == nil || !strings.Contains(err.Error(), "fewer addresses") {
		t.Errorf("got error %v for an advert over the size limit", err)
	}
}

func TestErrExpired(t *testing.T) {
	a := advertOf(t, 1, nil)
	b, _ := a.Encode()
	if _, err := OpenAdvert(b, a.Expires); !errors.Is(err, ErrExpired) {
		t.Errorf("got %v, want ErrExpired", err)
	}
}

func TestStateText(t *testing.T) {
	for s := Available; s.Valid(); s++ {
		text, err := s.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		var back State
		if err := back.UnmarshalText(text); err != nil || back != s {
			t.Errorf("%q: got %v, %v, want %v", text, back, err, s)
		}
	}
	if _, err := State(9).MarshalText(); err == nil || State(9).String() != "state(9)" {
		t.Error("a state that is none has a name")
	}
	var s State
	if err := s.UnmarshalText([]byte("busy")); err == nil {
		t.Error("read an unknown state")
	}
}

// A usual advert: a desktop on a home network, with a full survival record and
// two days of spells, fits a quarter of a network packet; with a pass, half. With
// the manifest in it, it had 469 bytes.
func TestUsualAdvertIsSmall(t *testing.T) {
	m, founder := manifestOf(t, Invited, nil)
	ticket := ticketOf(t, &m, founder)
	_, peer := someone(1)
	pass, err := ticket.Pass(peer)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		pass []byte
		most int
	}{{"open", nil, 384}, {"invited", pass, 576}} {
		a := advertOf(t, 1, func(a *Advert) {
			a.Seq = uint64(epoch.UnixNano())
			a.Addrs = []string{
				"/ip4/192.168.178.23/tcp/47331", "/ip4/192.168.178.23/udp/47331/quic-v1",
				"/ip4/203.0.113.201/tcp/47331", "/ip4/203.0.113.201/udp/47331/quic-v1",
			}
			a.Memory, a.Spells, a.Version, a.Pass, a.Site = 17_179_869_184, make([]byte, 32), "v0.3.0-dev", tt.pass, ""
			a.Epoch, a.Group = 0, nil // few lead
		})
		b, err := a.Encode()
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d bytes, of which pass %d", tt.name, len(b), len(tt.pass))
		if len(b) > tt.most {
			t.Errorf("%s: a usual advert has %d bytes, want at most %d", tt.name, len(b), tt.most)
		}
	}
}

// FuzzOpenAdvert checks that no bytes make OpenAdvert panic, and that what it
// accepts is within bounds and encodes back to the same bytes.
func FuzzOpenAdvert(f *testing.F) {
	a := advertOf(f, 1, nil)
	b, err := a.Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add(b[:40])
	f.Add([]byte{0xa1, 0x01, 0x60})
	f.Fuzz(func(t *testing.T, in []byte) {
		got, err := OpenAdvert(in, epoch)
		if err != nil {
			return
		}
		if err := got.validate(); err != nil {
			t.Errorf("accepted: %v", err)
		}
		roundtrip.Same(t, in, got, func(a Advert) ([]byte, error) { return a.Encode() },
			func(b []byte) (Advert, error) { return OpenAdvert(b, epoch) })
	})
}
