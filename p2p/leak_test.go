package p2p_test

import (
	"crypto/ed25519"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"godwit/internal/testnet"
	"godwit/p2p"
)

// goroutines returns the stacks of all that belong to the network.
func goroutines() []string {
	buf := make([]byte, 4<<20)
	var out []string
	for _, s := range strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n")[1:] {
		if strings.Contains(s, "go-libp2p") || strings.Contains(s, "quic-go") || strings.Contains(s, "godwit/p2p.") {
			out = append(out, s)
		}
	}
	return out
}

// A host whose port is taken, by TCP or by UDP, fails to start and leaves nothing
// running.
func TestPortTaken(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	u, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer u.Close()
	_, tcp, _ := strings.Cut(l.Addr().String(), ":")
	_, udp, _ := strings.Cut(u.LocalAddr().String(), ":")
	for _, listen := range [][]string{
		{"/ip4/127.0.0.1/tcp/" + tcp},
		{"/ip4/127.0.0.1/udp/" + udp + "/quic-v1"},
	} {
		before := len(goroutines())
		h, err := p2p.New(p2p.Config{
			Key: ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)), Listen: listen,
			Handler: &testnet.Recorder{},
		})
		if err == nil {
			t.Errorf("%v: no error", listen)
			h.Close()
		}
		for end := time.Now().Add(3 * time.Second); len(goroutines()) > before; runtime.Gosched() {
			if time.Now().After(end) {
				t.Errorf("%v: %v", listen, err)
				for _, g := range goroutines() {
					t.Log(g)
				}
				break
			}
		}
	}
}
