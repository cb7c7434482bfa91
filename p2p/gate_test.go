package p2p

import (
	"crypto/rand"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
)

// A relay that is itself reached through a relay only is not dialled through: two
// that named each other would be dialled in a circle.
func TestGate(t *testing.T) {
	h, err := libp2p.New(libp2p.NoListenAddrs)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	named := func() peer.ID {
		key, _, err := crypto.GenerateEd25519Key(rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		id, err := peer.IDFromPrivateKey(key)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	open, hidden, dest := named(), named(), named()
	circuit := func(relay peer.ID) ma.Multiaddr {
		return ma.StringCast("/ip4/192.0.2.1/udp/4001/quic-v1/p2p/" + relay.String() + "/p2p-circuit")
	}
	h.Peerstore().AddAddr(open, ma.StringCast("/ip4/192.0.2.1/udp/4001/quic-v1"), time.Hour)
	h.Peerstore().AddAddr(hidden, ma.StringCast("/ip4/192.0.2.2/udp/4001/quic-v1"), time.Hour)
	h.Peerstore().AddAddr(hidden, circuit(dest), time.Hour)
	g := &gate{redial: newRedial(nil)}
	for _, tt := range []struct {
		name         string
		addr         ma.Multiaddr
		before, then bool
	}{
		{"straight", ma.StringCast("/ip4/192.0.2.3/tcp/4001"), true, true},
		{"through one that can be dialled", circuit(open), true, true},
		{"through one that is reached through others", circuit(hidden), true, false},
		{"through one that nobody names", ma.StringCast("/p2p-circuit"), true, false},
	} {
		g.host.Store(nil)
		if got := g.InterceptAddrDial(dest, tt.addr); got != tt.before {
			t.Errorf("%s, before there is a host: %v", tt.name, got)
		}
		g.host.Store(&h)
		if got := g.InterceptAddrDial(dest, tt.addr); got != tt.then {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}

// A host that closes dials nobody.
func TestGateClosing(t *testing.T) {
	g := &gate{redial: newRedial(nil)}
	if !g.InterceptPeerDial("a peer") {
		t.Error("a host that is open does not dial")
	}
	g.closing.Store(true)
	if g.InterceptAddrDial("", ma.StringCast("/ip4/192.0.2.3/tcp/4001")) {
		t.Error("an address is dialled while the host closes")
	}
	if g.InterceptPeerDial("a peer") {
		t.Error("a host that closes dials")
	}
}
