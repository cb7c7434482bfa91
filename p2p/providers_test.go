package p2p

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"godwit/internal/roundtrip"

	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
	"pgregory.net/rapid"
)

// Ten thousand false providers, of a few networks, leave the places of others alone, whoever comes first.
func TestProvidersCrowd(t *testing.T) {
	for _, c := range []struct {
		name        string
		liars, nets int
	}{{"one network", 10_000, 1}, {"forty networks", 10_000, 40}} {
		for _, first := range []bool{true, false} {
			ps := newProviders(nil)
			addr := []ma.Multiaddr{ma.StringCast("/ip4/192.0.2.1/tcp/1")}
			lie := func() {
				for i := range c.liars {
					ps.add("key", peer.AddrInfo{ID: peer.ID(fmt.Sprint("liar", i)), Addrs: addr}, fmt.Sprint("net", i%c.nets), testNow)
				}
			}
			if first {
				lie()
			}
			for i := range 50 {
				ps.add("key", peer.AddrInfo{ID: peer.ID(fmt.Sprint("honest", i)), Addrs: addr}, fmt.Sprint("home", i), testNow)
			}
			if !first {
				lie()
			}
			honest := 0
			for id := range ps.keys["key"] {
				if len(id) > 6 && id[:6] == "honest" {
					honest++
				}
			}
			if honest != 50 || len(ps.keys["key"]) > 50+providersOfNetwork*c.nets {
				t.Errorf("%s, liars first %v: %d of 50 honest providers are left, of %d", c.name, first, honest,
					len(ps.keys["key"]))
			}
		}
	}
}

// The store keeps its bounds and its counts, whatever is told, and forgets.
func TestProvidersBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ps := newProviders(nil)
		now := testNow
		addr := []ma.Multiaddr{ma.StringCast("/ip4/192.0.2.1/tcp/1")}
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		for range rapid.IntRange(0, 400).Draw(t, "told") {
			now = now.Add(time.Duration(rng.IntN(30)) * time.Minute)
			id := peer.ID(fmt.Sprint("peer", rng.IntN(20)))
			key, net := fmt.Sprint("key", rng.IntN(90)), fmt.Sprint("net", rng.IntN(3))
			ps.add(key, peer.AddrInfo{ID: id, Addrs: addr[:rng.IntN(2)]}, net, now)
		}
		count, networks := map[peer.ID]int{}, map[string]int{}
		for key, of := range ps.keys {
			nets := map[string]int{}
			for id, x := range of {
				count[id]++
				networks[x.network]++
				nets[x.network]++
				if nets[x.network] > providersOfNetwork {
					t.Fatalf("%d providers of %s come from %s", nets[x.network], key, x.network)
				}
			}
			if len(of) == 0 || len(of) > maxProviders {
				t.Fatalf("%s has %d providers", key, len(of))
			}
		}
		if fmt.Sprint(count) != fmt.Sprint(ps.count) {
			t.Fatalf("counted %v, there are %v", ps.count, count)
		}
		if fmt.Sprint(networks) != fmt.Sprint(ps.networks) {
			t.Fatalf("counted by network %v, there are %v", ps.networks, networks)
		}
		for id, n := range count {
			if n > providersOfPeer {
				t.Fatalf("%s provides %d keys", id, n)
			}
		}
		ps.expire(now.Add(providedFor))
		if len(ps.keys) > 0 || len(ps.count) > 0 || len(ps.networks) > 0 {
			t.Fatalf("%d keys are never forgotten", len(ps.keys))
		}
	})
}

// FuzzProviders checks that no answer of a server makes its reader panic or exceed its bounds, and
// that what was read is written as it was read.
func FuzzProviders(f *testing.F) {
	good := []peer.AddrInfo{{ID: peer.ID(testIDBytes(f, 1)), Addrs: []ma.Multiaddr{ma.StringCast("/ip4/192.0.2.1/tcp/1")}}}
	b, err := writeProviders(good)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, in []byte) {
		said, err := readProviders(in)
		if err != nil {
			return
		}
		if len(said) > maxProviders {
			t.Fatalf("%d providers", len(said))
		}
		for _, p := range said {
			if len(p.Addrs) > maxProvidedAddrs || p.ID.Validate() != nil {
				t.Fatalf("a provider: %+v", p)
			}
		}
		roundtrip.Check(t, said, writeProviders, readProviders)
	})
}

// testIDBytes is a peer ID as it travels.
func testIDBytes(tb testing.TB, i int) []byte {
	tb.Helper()
	id, err := peer.Decode(string(testIDs()[i]))
	if err != nil {
		tb.Fatal(err)
	}
	return []byte(id)
}

// Names of one network that provide a key each, in any number, do not keep others from providing theirs, whoever comes
// first.
func TestProvidersOfManyKeys(t *testing.T) {
	addr := []ma.Multiaddr{ma.StringCast("/ip4/192.0.2.1/tcp/1")}
	for _, first := range []bool{true, false} {
		ps := newProviders(nil)
		add := func(name, network string, keys int) {
			for i := range keys {
				p := peer.AddrInfo{ID: peer.ID(fmt.Sprint(name, i/providersOfPeer)), Addrs: addr}
				ps.add(fmt.Sprint(name, " ", i), p, network, testNow)
			}
		}
		if first {
			add("liar", "net", maxProvided+100)
		}
		for i := range 20 {
			add(fmt.Sprint("honest", i), fmt.Sprint("home", i), providersOfPeer/2)
		}
		if !first {
			add("liar", "net", maxProvided+100)
		}
		honest := 0
		for key := range ps.keys {
			if key[:6] == "honest" {
				honest++
			}
		}
		if honest != 20*providersOfPeer/2 || len(ps.keys) > maxProvided {
			t.Errorf("liars first %v: %d honest keys are left of %d", first, honest, len(ps.keys))
		}
	}
}
