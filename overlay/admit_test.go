package overlay

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"godwit/internal/roundtrip"
	"godwit/task"
)

// ticketOf returns a ticket of an overlay that holds for a day from epoch.
func ticketOf(tb interface {
	Helper()
	Fatal(...any)
}, m *Manifest, founder ed25519.PrivateKey) Ticket {
	tb.Helper()
	t, err := NewTicket(m, founder, bytes.Repeat([]byte{8}, ed25519.SeedSize), epoch, epoch.Add(24*time.Hour))
	if err != nil {
		tb.Fatal(err)
	}
	return t
}

// TestInvitation: a ticket that went by mail brings any peer in, for the time it
// was given, and into no other overlay.
func TestInvitation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, founder := manifestOf(t, Invited, nil)
		seed := rapid.SliceOfN(rapid.Byte(), ed25519.SeedSize, ed25519.SeedSize).Draw(t, "seed")
		issued := epoch.Add(time.Duration(rapid.IntRange(0, 1e9).Draw(t, "issued")) * time.Microsecond)
		life := time.Duration(rapid.IntRange(1, 1e9).Draw(t, "life")) * time.Millisecond
		ticket, err := NewTicket(&m, founder, seed, issued, issued.Add(life))
		if err != nil {
			t.Fatal(err)
		}
		ticket.Places = placesOf(t, rapid.IntRange(0, MaxPlaces).Draw(t, "places"))
		text := ticket.Text()
		if rapid.Bool().Draw(t, "mangled") {
			at := rapid.IntRange(0, len(text)).Draw(t, "at")
			text = " " + text[:at] + "\r\n\t" + strings.ToUpper(text[at:]) + "\n"
		}
		got, err := ParseTicket(text)
		if err != nil || !reflect.DeepEqual(got, ticket) {
			t.Fatalf("got %+v, %v, want %+v", got, err, ticket)
		}
		_, peer := someone(rapid.Byte().Draw(t, "peer"))
		pass, err := got.Pass(peer)
		if err != nil || len(pass) > MaxPass {
			t.Fatalf("a pass of %d bytes, %v", len(pass), err)
		}
		now := issued.Add(time.Duration(rapid.Int64Range(-1e9, 2e9).Draw(t, "now")) * time.Microsecond)
		err = m.Admits(peer, pass, now)
		holds := peer == m.Founder || now.Before(ticket.Expires) && !ticket.Issued.After(now.Add(MaxSkew))
		if (err == nil) != holds || err != nil && !errors.Is(err, ErrNotAdmitted) {
			t.Fatalf("%v after it was issued for %v: %v", now.Sub(issued), life, err)
		}
		if ok := ticket.Check(&m, now) == nil; peer != m.Founder && ok != holds {
			t.Fatalf("Check says %v, Admits %v", ok, holds)
		}
		// Later versions of the rules honour it as well.
		next := m.Next()
		next.Placement = "flp"
		if err := next.Sign(founder); err != nil {
			t.Fatal(err)
		}
		if (next.Admits(peer, pass, now) == nil) != holds {
			t.Fatal("the next version of the manifest judges otherwise")
		}
	})
}

func TestAdmitsRefuses(t *testing.T) {
	m, founder := manifestOf(t, Invited, nil)
	ticket := ticketOf(t, &m, founder)
	_, guest := someone(1)
	_, stranger := someone(2)
	pass, err := ticket.Pass(guest)
	if err != nil {
		t.Fatal(err)
	}
	revoked := m.Next()
	revoked.InvitesFrom = ticket.Issued.Add(time.Millisecond)
	if err := revoked.Sign(founder); err != nil {
		t.Fatal(err)
	}
	forgerKey, forger := someone(3)
	others := Manifest{Name: "weather", Founder: forger, Founded: epoch, Admission: Invited}
	if err := others.Sign(forgerKey); err != nil {
		t.Fatal(err)
	}
	forged := ticketOf(t, &others, forgerKey)
	foreign, _ := forged.Pass(guest)
	listed, _ := manifestOf(t, Listed, []task.PeerID{guest})
	for _, tt := range []struct {
		name string
		m    *Manifest
		peer task.PeerID
		pass []byte
		now  time.Time
		want string
	}{
		{"without a pass", &m, stranger, nil, epoch, "no invitation"},
		{"with another's pass", &m, stranger, pass, epoch, "another peer's"},
		{"too late", &m, guest, pass, ticket.Expires, "expired"},
		{"too soon", &m, guest, pass, ticket.Issued.Add(-MaxSkew - time.Second), "holds only from"},
		{"revoked", &revoked, guest, pass, epoch, "revoked"},
		{"of another founder", &m, guest, foreign, epoch, "not one of this overlay's founder"},
		{"damaged", &m, guest, pass[:len(pass)-1], epoch, "damaged"},
		{"with more", &m, guest, append(bytes.Clone(pass), 0), epoch, "damaged"},
		{"with very much more", &m, guest, make([]byte, MaxPass+1), epoch, "at most"},
		{"not on the list", &listed, stranger, pass, epoch, "list"},
		{"nobody", &listed, "", nil, epoch, "list"},
	} {
		if err := tt.m.Admits(tt.peer, tt.pass, tt.now); !errors.Is(err, ErrNotAdmitted) ||
			!strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got error %v, want one with %q", tt.name, err, tt.want)
		}
	}
	for _, m := range []*Manifest{&m, &revoked, &listed} {
		if err := m.Admits(m.Founder, nil, epoch); err != nil {
			t.Errorf("the founder: %v", err)
		}
	}
	if err := listed.Admits(guest, nil, epoch); err != nil {
		t.Errorf("one on the list: %v", err)
	}
	if err := forged.Check(&m, epoch); !errors.Is(err, ErrNotAdmitted) ||
		!strings.Contains(err.Error(), "is for overlay") {
		t.Errorf("a ticket of another overlay: %v", err)
	}
	forged.Overlay = m.ID()
	if err := forged.Check(&m, epoch); !errors.Is(err, ErrNotAdmitted) || !strings.Contains(err.Error(), "founder") {
		t.Errorf("a ticket that another signed: %v", err)
	}
	if err := ticket.Check(&revoked, epoch); !errors.Is(err, ErrNotAdmitted) || !strings.Contains(err.Error(), "revoked") {
		t.Errorf("a ticket that was revoked: %v", err)
	}
}

func TestNewTicketRefuses(t *testing.T) {
	m, founder := manifestOf(t, Invited, nil)
	open, _ := manifestOf(t, Open, nil)
	revoked := m.Next()
	revoked.InvitesFrom = epoch.Add(time.Hour)
	if err := revoked.Sign(founder); err != nil {
		t.Fatal(err)
	}
	other, _ := someone(1)
	seed := make([]byte, ed25519.SeedSize)
	end := epoch.Add(time.Hour)
	for name, try := range map[string]func() (Ticket, error){
		"to an open overlay":   func() (Ticket, error) { return NewTicket(&open, founder, seed, epoch, end) },
		"by another":           func() (Ticket, error) { return NewTicket(&m, other, seed, epoch, end) },
		"without a seed":       func() (Ticket, error) { return NewTicket(&m, founder, nil, epoch, end) },
		"for no time":          func() (Ticket, error) { return NewTicket(&m, founder, seed, end, end) },
		"that is void already": func() (Ticket, error) { return NewTicket(&revoked, founder, seed, epoch, end) },
	} {
		if ticket, err := try(); err == nil {
			t.Errorf("a ticket %s: %s", name, ticket.Text())
		}
	}
}

// TestParseTicketRefuses: whatever letter is wrong or missing is noticed.
func TestParseTicketRefuses(t *testing.T) {
	m, founder := manifestOf(t, Invited, nil)
	ticket := ticketOf(t, &m, founder)
	text := ticket.Text()
	t.Logf("%d letters: %s", len(text), text)
	for i := range text {
		other := byte('a')
		if text[i] == 'a' {
			other = 'b'
		}
		if _, err := ParseTicket(text[:i] + string(other) + text[i+1:]); !errors.Is(err, ErrTicket) {
			t.Fatalf("letter %d changed: %v", i, err)
		}
		if _, err := ParseTicket(text[:i] + text[i+1:]); !errors.Is(err, ErrTicket) {
			t.Fatalf("letter %d missing: %v", i, err)
		}
	}
	for name, s := range map[string]string{"nothing": "", "an ID": string(m.ID()), "twice": text + text,
		"a book": strings.Repeat(text, 100)} {
		if _, err := ParseTicket(s); !errors.Is(err, ErrTicket) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if none := (&Ticket{}).Text(); none != "" {
		t.Errorf("the zero ticket has the text %q", none)
	}
}

// FuzzParseTicket checks that no text makes ParseTicket panic, and that what it
// accepts is what a ticket is written as.
func FuzzParseTicket(f *testing.F) {
	m, founder := manifestOf(f, Invited, nil)
	ticket := ticketOf(f, &m, founder)
	f.Add(ticket.Text())
	f.Add(ticket.Text()[:50])
	ticket.Places = placesOf(f, 3)
	f.Add(ticket.Text())
	f.Fuzz(func(t *testing.T, in string) {
		got, err := ParseTicket(in)
		if err != nil {
			return
		}
		again := roundtrip.Check(t, got, func(t Ticket) ([]byte, error) { return []byte(t.Text()), nil },
			func(b []byte) (Ticket, error) { return ParseTicket(string(b)) })
		if !reflect.DeepEqual(again, got) {
			t.Errorf("%q is a ticket, and its text is another's", in)
		}
	})
}

// FuzzAdmits checks that no bytes for a pass make Admits panic or are a pass but
// the right ones.
func FuzzAdmits(f *testing.F) {
	m, founder := manifestOf(f, Invited, nil)
	ticket := ticketOf(f, &m, founder)
	_, peer := someone(1)
	pass, err := ticket.Pass(peer)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(pass)
	f.Add(pass[:40])
	f.Fuzz(func(t *testing.T, in []byte) {
		if m.Admits(peer, in, epoch) == nil && !bytes.Equal(in, pass) {
			t.Error("admitted with a pass that nobody gave")
		}
		if p, err := openPass(in); err == nil {
			roundtrip.Same(t, in, p, func(p passWire) ([]byte, error) { return encoder.Marshal(p) }, openPass)
		}
	})
}
