package portmap

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
)

var here = netip.MustParseAddr("127.0.0.1")

// A fakeRouter is one on this machine.
type fakeRouter struct {
	router
	speaks string // "PCP", "NAT-PMP" or "UPnP"; else it answers with these bytes, always

	mu      sync.Mutex
	outside netip.Addr      // its own address
	open    map[Port]uint16 // outside, by the port inside
	web     string          // where UPnP is described
	page    func(w http.ResponseWriter)
}

// newFake starts a router that speaks so.
func newFake(t *testing.T, speaks string) *fakeRouter {
	f := &fakeRouter{speaks: speaks, outside: netip.MustParseAddr("203.0.113.9"), open: map[Port]uint16{}}
	f.router = router{addr: here, self: here}
	if f.pmpPort = f.listen(t, f.answer); speaks == "UPnP" {
		f.pmpPort = 1 // nobody is there, as the system says at once
	}
	f.ssdpPort = f.listen(t, f.notice)
	mux := http.NewServeMux()
	mux.HandleFunc("/desc.xml", f.describe)
	mux.HandleFunc("/control", f.control)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: mux}
	t.Cleanup(func() { s.Close() })
	go s.Serve(l)
	f.change(func() { f.web = "http://" + l.Addr().String() })
	return f
}

// change changes a router that answers already.
func (f *fakeRouter) change(how func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	how()
}

// listen answers packets; nothing comes back for a nil answer.
func (f *fakeRouter) listen(t *testing.T, answer func([]byte) []byte) uint16 {
	c, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	go func() {
		b := make([]byte, 4096)
		for {
			n, from, err := c.ReadFrom(b)
			if err != nil {
				return
			}
			if out := answer(b[:n]); out != nil {
				_, _ = c.WriteTo(out, from)
			}
		}
	}()
	return uint16(c.LocalAddr().(*net.UDPAddr).Port)
}

// answer is what it says to PCP and NAT-PMP.
func (f *fakeRouter) answer(b []byte) []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.speaks == "PCP" && b[0] == pcpVersion:
		out := append([]byte{}, b...)
		out[1], out[3] = pcpMap|answerBit, pcpDone
		p := Port{TCP, binary.BigEndian.Uint16(b[40:])}
		if b[36] == numberUDP {
			p.Protocol = UDP
		}
		f.set(p, binary.BigEndian.Uint16(b[42:]), binary.BigEndian.Uint32(b[4:]))
		at := f.outside.As16()
		copy(out[44:], at[:])
		return out
	case f.speaks == "NAT-PMP" && b[0] == pcpVersion: // RFC 6886, section 3.5
		return []byte{0, b[1] | answerBit, 0, 1, 0, 0, 0, 0}
	case f.speaks == "NAT-PMP" && b[1] == pmpAddress:
		at := f.outside.As4()
		return append([]byte{0, answerBit, 0, 0, 0, 0, 0, 9}, at[:]...)
	case f.speaks == "NAT-PMP":
		p := Port{TCP, binary.BigEndian.Uint16(b[4:])}
		if b[1] == pmpUDP {
			p.Protocol = UDP
		}
		f.set(p, binary.BigEndian.Uint16(b[6:]), binary.BigEndian.Uint32(b[8:]))
		return append([]byte{0, b[1] | answerBit, 0, 0, 0, 0, 0, 9}, b[4:12]...)
	}
	return []byte(f.speaks)
}

func (f *fakeRouter) set(p Port, outside uint16, life uint32) {
	if life == 0 {
		delete(f.open, p)
	} else {
		f.open[p] = outside
	}
}

// ports are those that it leads somewhere now.
func (f *fakeRouter) ports() map[Port]uint16 {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := map[Port]uint16{}
	for p, o := range f.open {
		out[p] = o
	}
	return out
}

// notice answers a search.
func (f *fakeRouter) notice([]byte) []byte {
	if f.speaks != "UPnP" {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nST: urn:schemas-upnp-org:device:InternetGatewayDevice:1\r\n"+
		"LOCATION: %s/desc.xml\r\n\r\n", f.web)
}

func (f *fakeRouter) describe(w http.ResponseWriter, _ *http.Request) {
	f.mu.Lock()
	page := f.page
	f.mu.Unlock()
	if page != nil {
		page(w)
		return
	}
	fmt.Fprint(w, `<?xml version="1.0"?><root><device><serviceList><service><serviceType>urn:other:1</serviceType>`+
		`<controlURL>/other</controlURL></service></serviceList><deviceList><device><serviceList><service>`+
		`<serviceType>urn:schemas-upnp-org:service:WANIPConnection:1</serviceType><controlURL>/control</controlURL>`+
		`</service></serviceList></device></deviceList></device></root>`)
}

func (f *fakeRouter) control(w http.ResponseWriter, r *http.Request) {
	b, _ := io.ReadAll(r.Body)
	texts, err := readTexts(b, "NewExternalPort", "NewInternalPort", "NewProtocol", "NewLeaseDuration")
	var inside, outside uint16
	fmt.Sscan(texts["NewInternalPort"], &inside)
	fmt.Sscan(texts["NewExternalPort"], &outside)
	p := Port{Protocol(strings.ToLower(texts["NewProtocol"])), inside}
	f.mu.Lock()
	defer f.mu.Unlock()
	switch _, action, _ := strings.Cut(r.Header.Get("SOAPAction"), "#"); {
	case err != nil:
		w.WriteHeader(http.StatusBadRequest)
	case strings.HasPrefix(action, "GetExternal"):
		fmt.Fprintf(w, "<r><NewExternalIPAddress>%s</NewExternalIPAddress></r>", f.outside)
	case strings.HasPrefix(action, "Delete"):
		for p, o := range f.open {
			if o == outside {
				delete(f.open, p)
			}
		}
	case outside == inside: // another machine has it
		w.WriteHeader(http.StatusInternalServerError)
		fmt.Fprint(w, "<f><detail><errorCode>718</errorCode></detail></f>")
	default:
		f.open[p] = outside
		fmt.Fprint(w, "<r></r>")
	}
}
