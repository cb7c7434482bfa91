package p2p

import (
	"slices"
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
)

const relayed = "/p2p/12D3KooWD3eckifWpRn9wQpMG9R9hX3sD158z7EqHWmweQAJU5SA/p2p-circuit"

func TestScopeOf(t *testing.T) {
	for text, want := range map[string]scope{
		"/ip4/8.8.8.8/tcp/1":                    everywhere,
		"/ip6/2600::1/udp/1/quic-v1":            everywhere,
		"/ip4/8.8.8.8/tcp/1" + relayed:          everywhere,
		"/ip4/192.168.1.1/tcp/22":               localNet,
		"/ip4/100.64.0.1/tcp/1":                 localNet,
		"/ip6/fd00:ec2::254/tcp/80":             localNet,
		"/ip4/10.0.0.1/tcp/1" + relayed:         localNet,
		"/ip4/127.0.0.1/tcp/6379":               thisMachine,
		"/ip6/::1/tcp/1":                        thisMachine,
		"/ip6/::ffff:127.0.0.1/tcp/1":           thisMachine,
		"/ip4/169.254.169.254/tcp/80":           thisLink,
		"/ip6/fe80::1/tcp/1":                    thisLink,
		"/ip4/0.0.0.0/tcp/1":                    nowhere,
		"/ip4/224.0.0.1/udp/1/quic-v1":          nowhere,
		"/dns4/metadata.google.internal/tcp/80": nowhere,
		"/dnsaddr/example.org":                  nowhere,
		"/unix/run/docker.sock":                 nowhere,
		"/dns/example.org/tcp/1" + relayed:      nowhere,
		"/dns/example.org/tcp/443/tls/ws":       nowhere,
		"/ip4/255.255.255.255/udp/1/quic-v1":    nowhere,
	} {
		if got := scopeOf(ma.StringCast(text)); got != want {
			t.Errorf("%s is of scope %d, want %d", text, got, want)
		}
	}
}

// What an advert says of private networks and of the machine itself is dialled only by a node that
// is there.
func TestMayTell(t *testing.T) {
	addrs := []string{"/ip4/8.8.8.8/tcp/1", "/ip4/192.168.1.1/tcp/1", "/ip4/127.0.0.1/tcp/1", "/ip4/169.254.169.254/tcp/1",
		"/dns/example.org/tcp/1", "no address"}
	a, b := serve(t, testConfig(1)), serve(t, testConfig(2))
	teller, err := peer.Decode(string(b.ID()))
	if err != nil {
		t.Fatal(err)
	}
	if got := a.mayTell(teller, addrs); !slices.Equal(got, addrs[:3]) {
		t.Errorf("a node that listens on this machine alone dials %q", got)
	}
	wide := testConfig(3)
	wide.Listen = []string{"/ip4/0.0.0.0/tcp/0"}
	c := serve(t, wide)
	if got := c.mayTell(teller, addrs); !slices.Equal(got, addrs[:1]) {
		t.Errorf("a node that listens everywhere dials %q, told by nobody near", got)
	}
	c.AddAddrs(b.ID(), b.Addrs(), 0)
	if _, err := c.Request(t.Context(), b.ID(), "echo", nil); err != nil {
		t.Fatal(err)
	}
	if got := c.mayTell(teller, addrs); !slices.Equal(got, addrs[:3]) {
		t.Errorf("told by its own machine it dials %q", got)
	}
}

// Of the neighbours that a node seeks two are of one network, as long as there are others.
func TestCrowd(t *testing.T) {
	cr := crowd{}
	for i, tt := range []struct {
		addr string
		want bool
	}{
		{"/ip4/8.8.1.1/tcp/1", true}, {"/ip4/8.8.2.2/tcp/1", true}, {"/ip4/8.8.3.3/tcp/1", false},
		{"/ip4/8.9.1.1/tcp/1", true}, {"/ip6/2600:1:2::1/tcp/1", true}, {"/ip6/2600:1:3::1/tcp/1", true},
		{"/ip6/2600:1:4::1/tcp/1", false}, {"/ip4/192.168.1.1/tcp/1", true}, {"/ip4/192.168.1.2/tcp/1", true},
		{"/ip4/192.168.1.3/tcp/1", true}, {"/ip4/8.8.9.9/tcp/1" + relayed, true},
	} {
		if got := cr.lets([]ma.Multiaddr{ma.StringCast(tt.addr)}); got != tt.want {
			t.Errorf("neighbour %d, %s: %v, want %v", i, tt.addr, got, tt.want)
		}
	}
	if cr.lets([]ma.Multiaddr{ma.StringCast("/ip4/9.9.9.9/tcp/1"), ma.StringCast("/ip4/8.8.9.9/tcp/1")}) {
		t.Error("an address elsewhere is a way around")
	}
}
