package portmap

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"godwit/internal/pause"
)

var bothPorts = []Port{{UDP, 24001}, {TCP, 24001}}

// mapperOf returns a mapper of two ports whose router is that one.
func mapperOf(r router) *Mapper {
	m := New(func() []Port { return slices.Clone(bothPorts) }, Nonce{1, 2, 3}, func() {}, slog.New(slog.DiscardHandler))
	m.find = func() (router, error) { return r, nil }
	return m
}

// A router that speaks any of the three opens both ports, at one that is free there, and closes them.
func TestMapper(t *testing.T) {
	for _, speaks := range []string{"PCP", "NAT-PMP", "UPnP"} {
		t.Run(speaks, func(t *testing.T) {
			t.Parallel()
			f := newFake(t, speaks)
			m := mapperOf(f.router)
			changed := make(chan bool, 8)
			m.changed = func() { changed <- true }
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan bool)
			go func() { m.Run(ctx); close(ended) }()
			<-changed
			outside := uint16(24001)
			if speaks == "UPnP" {
				outside++
			}
			s := m.Status()
			if s.By != speaks || len(s.Open) != 2 || s.Why != "" || !s.Asked {
				t.Fatalf("status: %+v", s)
			}
			want := map[Port]uint16{bothPorts[0]: outside, bothPorts[1]: outside}
			if got := f.ports(); !reflect.DeepEqual(got, want) {
				t.Errorf("it opened %v, want %v", got, want)
			}
			at, ok := m.Outside(bothPorts[0])
			if !ok || at != netip.AddrPortFrom(f.outside, outside) {
				t.Errorf("others dial %v, %t", at, ok)
			}
			stop()
			<-ended
			if got := f.ports(); len(got) != 0 {
				t.Errorf("open in the end: %v", got)
			}
			if _, ok := m.Outside(bothPorts[0]); ok {
				t.Error("it tells of a port that is closed")
			}
		})
	}
}

// A router whose own address is private is before another: nothing is told of it, and nothing left open.
func TestMapperNested(t *testing.T) {
	for _, speaks := range []string{"PCP", "NAT-PMP", "UPnP"} {
		for _, own := range []string{"192.168.0.7", "100.64.1.2", "10.0.0.1"} {
			t.Run(speaks+" "+own, func(t *testing.T) {
				t.Parallel()
				f := newFake(t, speaks)
				f.change(func() { f.outside = netip.MustParseAddr(own) })
				m := mapperOf(f.router)
				m.round(t.Context(), time.Now())
				if s := m.Status(); len(s.Open) != 0 || !strings.Contains(s.Why, own) || len(f.ports()) != 0 {
					t.Errorf("%+v, open there: %v", s, f.ports())
				}
			})
		}
	}
}

// What is there is asked for again at half of its time, and forgotten with the router.
func TestMapperRenews(t *testing.T) {
	f := newFake(t, "PCP")
	m := mapperOf(f.router)
	now := time.Now()
	if !m.round(t.Context(), now) {
		t.Fatal("nothing changed")
	}
	f.mu.Lock()
	clear(f.open) // as a router that has begun anew
	f.mu.Unlock()
	if m.round(t.Context(), now.Add(Life/4)); len(f.ports()) != 0 {
		t.Error("it asked again at once")
	}
	if m.round(t.Context(), now.Add(Life*3/4)); len(f.ports()) != 2 {
		t.Error("it did not ask again")
	}
	m.find = func() (router, error) { return router{}, ErrNoRouter }
	if !m.round(t.Context(), now.Add(Life)) || len(m.Status().Open) != 0 {
		t.Errorf("without the router: %+v", m.Status())
	}
}

// Routers that say what makes no sense, too much, or nothing, open nothing, and hold nothing up.
func TestMapperHostile(t *testing.T) {
	long := strings.Repeat("A", 60_000)
	pages := map[string]func(http.ResponseWriter){
		"no end":    func(w http.ResponseWriter) { flood(w, "<a>") },
		"deep":      func(w http.ResponseWriter) { fmt.Fprint(w, strings.Repeat("<a>", maxPage/3)) },
		"nothing":   func(http.ResponseWriter) {},
		"no XML":    func(w http.ResponseWriter) { fmt.Fprint(w, long) },
		"elsewhere": func(w http.ResponseWriter) { fmt.Fprintf(w, foreign, "http://192.0.2.1/control") },
		"a file":    func(w http.ResponseWriter) { fmt.Fprintf(w, foreign, "file:///etc/passwd") },
		"sends on":  func(w http.ResponseWriter) { w.Header().Set("Location", "http://192.0.2.1/"); w.WriteHeader(302) },
		"header":    func(w http.ResponseWriter) { w.Header().Set("X", long) },
		"wrong way": func(w http.ResponseWriter) { fmt.Fprintf(w, foreign, "/desc.xml") },
	}
	for name, page := range pages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t, "UPnP")
			f.change(func() { f.page = page })
			u := &upnp{router: f.router}
			if g, err := u.open(t.Context(), bothPorts[0], 24001); err == nil {
				t.Errorf("it opened %v", g)
			}
		})
	}
	for _, said := range []string{"", "\x00", "\x02\x81", "\x00\x81\x00\x01", long, strings.Repeat("\x02\x81\x00", 20),
		strings.Repeat("\xff", pcpBytes), strings.Repeat("\x00\x80", 8)} {
		t.Run("says "+strconv.Quote(said[:min(len(said), 9)]), func(t *testing.T) {
			t.Parallel()
			f := newFake(t, said)
			for _, l := range []language{pcp{f.router, Nonce{}}, pmp{f.router}} {
				ctx, cancel := context.WithTimeout(t.Context(), firstWait/2)
				if g, err := l.open(ctx, bothPorts[0], 24001); err == nil {
					t.Errorf("%s opened %v", l.name(), g)
				}
				cancel()
			}
		})
	}
}

const foreign = "<r><serviceType>urn:schemas-upnp-org:service:WANIPConnection:1</serviceType>" +
	"<controlURL>%s</controlURL></r>"

// flood writes until nobody reads any more.
func flood(w http.ResponseWriter, text string) {
	for {
		if _, err := fmt.Fprint(w, strings.Repeat(text, 1000)); err != nil {
			return
		}
	}
}

// A router that never answers does not hold up the end.
func TestMapperSilent(t *testing.T) {
	f := newFake(t, "UPnP")
	hang := make(chan bool)
	t.Cleanup(func() { close(hang) })
	f.change(func() { f.page = func(http.ResponseWriter) { <-hang } })
	m := mapperOf(f.router)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan bool)
	go func() { m.Run(ctx); close(ended) }()
	if pause.For(ctx, 10*time.Millisecond) != nil {
		t.Fatal("the test was ended")
	}
	stop()
	<-ended
	if len(m.Status().Open) != 0 {
		t.Errorf("open: %+v", m.Status())
	}
}

// Another machine that answers a search is not asked.
func TestSearchOfAnother(t *testing.T) {
	f := newFake(t, "UPnP")
	r := f.router
	r.addr = netip.MustParseAddr("127.0.0.2")
	c := f.listen(t, func([]byte) []byte { return nil })
	r.ssdpPort = c
	if _, err := r.search(t.Context()); !errors.Is(err, ErrSilent) {
		t.Errorf("found: %v", err)
	}
	for _, text := range []string{"", "HTTP/1.1 200 OK\r\n\r\n",
		"HTTP/1.1 404 no\r\nLocation: http://127.0.0.1/\r\n\r\n"} {
		at, err := readNotice([]byte(text))
		if err == nil {
			err = f.owns(at)
		}
		if err == nil {
			t.Errorf("%q leads to %v", text, at)
		}
	}
}

// FuzzAnswers checks that no answer makes a reader panic, and that what is granted was asked for.
func FuzzAnswers(f *testing.F) {
	nonce, p := Nonce{7}, Port{UDP, 24001}
	f.Add(pcp{router{addr: here, self: here}, nonce}.request(p, 24001, Life))
	f.Add([]byte{0, answerBit, 0, 0, 0, 0, 0, 9, 203, 0, 113, 9})
	f.Add([]byte{0, pmpUDP | answerBit, 0, 0, 0, 0, 0, 9, 0x5d, 0xc1, 0x5d, 0xc1, 0, 0, 0, 9})
	f.Add([]byte("HTTP/1.1 200 OK\r\nLocation: http://127.0.0.1:80/\r\n\r\n"))
	f.Add(fmt.Appendf(nil, foreign, "/control"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if g, done, err := readPCP(b, nonce, p); done && (err != nil || g.life > Life || len(b) < pcpBytes) {
			t.Errorf("PCP: %v, %v", g, err)
		}
		if _, life, done, err := readPort(b, p); done && (err != nil || life > Life) {
			t.Errorf("NAT-PMP: %v, %v", life, err)
		}
		if at, done, err := readAddress(b); done && (err != nil || !at.Is4()) {
			t.Errorf("NAT-PMP: %v, %v", at, err)
		}
		if at, err := readNotice(b); err == nil && at == nil {
			t.Error("a notice of nothing")
		}
		if s, at, err := readDescription(b); err == nil && (!slices.Contains(services, s) || at == "") {
			t.Errorf("described: %q, %q", s, at)
		}
	})
}
