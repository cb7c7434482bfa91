package overlay

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"godwit/internal/roundtrip"
)

// placesOf returns n places of members, one of them through a relay.
func placesOf(tb interface {
	Helper()
	Fatal(...any)
}, n int) []Place {
	tb.Helper()
	_, relay := someone(200)
	var out []Place
	for i := range n {
		_, peer := someone(byte(100 + i))
		addr := fmt.Sprintf("/ip4/192.0.2.%d/tcp/4001", i)
		if i == 1 {
			addr = "/ip6/2001:db8::1/udp/4001/quic-v1/p2p/" + string(relay) + "/p2p-circuit"
		}
		p, err := ParsePlace(addr + "/p2p/" + string(peer))
		if err != nil {
			tb.Fatal(err)
		}
		if p.Peer != peer || p.Addr != addr || p.String() != addr+"/p2p/"+string(peer) {
			tb.Fatal("read as", p)
		}
		out = append(out, p)
	}
	if n == 0 {
		return nil
	}
	return out
}

func TestParsePlaceRefuses(t *testing.T) {
	_, peer := someone(1)
	id := string(peer)
	for _, text := range []string{
		"", "nonsense", "/ip4/192.0.2.1/tcp/1", "/p2p/" + id, id, "/ip4/192.0.2.1/tcp/1/p2p/" + id + "/tcp/2",
		"/ip4/192.0.2.1/tcp/1/p2p/QmYyQSo1c1Ym7orWxLYvCrM2EmxFTANf8wXmmE7DWjhx5N", // a key of another kind
		"/ip4/192.0.2.1/tcp/1/p2p-circuit/p2p/" + id,
		"/dns4/" + strings.Repeat("a", 100) + "/tcp/1/p2p/" + id,
	} {
		if p, err := ParsePlace(text); err == nil {
			t.Errorf("%q is read as %+v", text, p)
		}
	}
}

// A ticket with places that was not copied whole is refused, and it is said whether a part is missing.
func TestTicketWithPlacesCutShort(t *testing.T) {
	m, founder := manifestOf(t, Invited, nil)
	ticket := ticketOf(t, &m, founder)
	plain := ticket.Text()
	for n := range MaxPlaces {
		ticket.Places = placesOf(t, n+1)
		text := ticket.Text()
		t.Logf("%d places: %d letters", n+1, len(text))
		if len(text) > maxTicketText/2 {
			t.Errorf("a ticket of %d letters may not be broken into lines", len(text))
		}
		for i := range text {
			_, err := ParseTicket(text[:i])
			whole := i == len(plain) // a ticket without places ends there, but for its check
			told := err != nil && strings.Contains(err.Error(), "a part is missing")
			if !errors.Is(err, ErrTicket) || i > len(ticketMark) && !whole && !told {
				t.Fatalf("cut after %d letters of %d: %v", i, len(text), err)
			}
			other := "a"
			if text[i] == 'a' {
				other = "b"
			}
			if _, err := ParseTicket(text[:i] + other + text[i+1:]); !errors.Is(err, ErrTicket) {
				t.Fatalf("letter %d changed: %v", i, err)
			}
		}
		if _, err := ParseTicket(text + "aaaaaaaa"); err == nil || !strings.Contains(err.Error(), "too much") {
			t.Errorf("with letters at the end: %v", err)
		}
	}
	ticket.Places = placesOf(t, MaxPlaces+1)
	if text := ticket.Text(); text != "" {
		t.Errorf("a ticket with too many places: %s", text)
	}
}

// A ticket that a later version made is said to be that.
func TestTicketOfLaterVersion(t *testing.T) {
	m, founder := manifestOf(t, Invited, nil)
	ticket := ticketOf(t, &m, founder)
	ticket.Places = placesOf(t, 2)
	body, err := idText.DecodeString(strings.TrimPrefix(ticket.Text(), ticketMark))
	if err != nil {
		t.Fatal(err)
	}
	write := func(b []byte) string {
		sum := sha256.Sum256(b)
		return ticketMark + idText.EncodeToString(append(b, sum[:ticketCheck]...))
	}
	later := body[:len(body)-ticketCheck]
	later[ticketFixed] = placesVersion + 1
	other := "godwit2" + strings.Repeat("q", 300)
	for _, text := range []string{write(later), other, strings.ToUpper(other)} {
		if _, err := ParseTicket(text); !errors.Is(err, ErrTicket) || !errors.Is(err, ErrTicketVersion) || !IsTicket(text) {
			t.Errorf("%.20s: %v", text, err)
		}
	}
	if IsTicket("godwit2") || IsTicket("godwit") || IsTicket("") || IsTicket("godwitness"+strings.Repeat("s", 200)) {
		t.Error("a name is taken for a ticket")
	}
	later[ticketFixed] = placesVersion
	binary.BigEndian.PutUint16(later[ticketFixed+1:], 0xffff)
	if _, err := ParseTicket(write(later)); !errors.Is(err, ErrTicket) {
		t.Errorf("places longer than the ticket: %v", err)
	}
}

// FuzzUnpackPlaces checks that no bytes make unpackPlaces panic, and that what it accepts is what
// places are written as.
func FuzzUnpackPlaces(f *testing.F) {
	pack := func(places []Place) ([]byte, error) {
		var all []byte
		for _, p := range places {
			b, err := p.pack()
			if err != nil {
				return nil, err
			}
			all = append(all, b...)
		}
		return all, nil
	}
	for n := range MaxPlaces + 1 {
		b, err := pack(placesOf(f, n))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		places, err := unpackPlaces(in)
		if err != nil {
			return
		}
		if again, err := pack(places); err != nil || !bytes.Equal(again, in) {
			t.Errorf("%x is written as %x, %v", in, again, err)
		}
		roundtrip.Check(t, places, pack, unpackPlaces)
	})
}
