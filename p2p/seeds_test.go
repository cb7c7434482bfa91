package p2p_test

import (
	"crypto/ed25519"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"godwit/internal/testnet"
	"godwit/p2p"

	"github.com/marcopolo/simnet"
)

// deadPeers are peers that were met where nobody answers any more.
func deadPeers(tb testing.TB, n int) []p2p.MetPeer {
	tb.Helper()
	var dead []p2p.MetPeer
	for i := range n {
		id, err := p2p.PeerIDOf(ed25519.NewKeyFromSeed(fmt.Appendf(nil, "dead%028d", i)))
		if err != nil {
			tb.Fatal(err)
		}
		dead = append(dead, p2p.MetPeer{Peer: id, Met: time.Now(), Dialled: true,
			Addrs: []string{fmt.Sprintf("/ip4/%s/udp/8000/quic-v1", simnet.IntToPublicIPv4(1000+i))}})
	}
	return dead
}

// A node that is started again finds the swarm by whom it met, without those that it was told of;
// also where all others whom it remembers are gone.
func TestSeedsFindTheSwarm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var met []p2p.MetPeer
		net := testnet.New(t, 3, testnet.Options{Config: func(i int, cfg *p2p.Config) {
			if met != nil {
				cfg.Bootstrap, cfg.Met = nil, met
			}
		}})
		for _, n := range net.Nodes {
			if err := n.SetAdvert(n.Advert(1)); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(10 * time.Second)
		met = net.Nodes[2].Met()
		if len(met) != 2 {
			t.Fatalf("host 2 remembers %+v", met)
		}
		for _, n := range net.Nodes {
			n.Stop()
		}
		net.Nodes[1].Start() // host 0, of which the others were told, does not come again
		met = append(met, deadPeers(t, p2p.MaxRecalled-2)...)
		for i := range met { // the one that is left is the last to be tried
			met[i].Dialled = met[i].Peer != net.Nodes[1].ID()
		}
		begun := time.Now()
		net.Nodes[2].Start()
		for len(net.Nodes[2].Peers()) == 0 && time.Since(begun) < 2*time.Minute {
			time.Sleep(100 * time.Millisecond)
		}
		took := time.Since(begun)
		t.Logf("of %d peers the one that is left was found after %v", len(met), took)
		if took > time.Minute {
			t.Errorf("of %d peers the one that is left was found after %v", len(met), took)
		}
	})
}

// Two swarms that have lost each other are one again, once a node of one remembers a member of the
// other: not at once, as each has neighbours enough.
func TestSeedsJoinSwarms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var met []p2p.MetPeer
		net := testnet.New(t, 10, testnet.Options{Config: func(i int, cfg *p2p.Config) {
			cfg.Bootstrap = nil
			if i%5 > 0 {
				cfg.Bootstrap = []string{testnet.Addr(i / 5 * 5)}
			}
			if i == 9 {
				cfg.Met = met
			}
		}})
		for _, n := range net.Nodes {
			if err := n.SetAdvert(n.Advert(1)); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(20 * time.Second)
		met = net.Nodes[1].Met()
		net.Nodes[9].Stop()
		net.Nodes[9].Start()
		if err := net.Nodes[9].SetAdvert(net.Nodes[9].Advert(1)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(11 * time.Minute)
		for _, n := range net.Nodes {
			if err := n.SetAdvert(n.Advert(1)); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(10 * time.Second)
		for i, n := range net.Nodes {
			if known := n.Stats().Adverts; known < 9 {
				t.Errorf("host %d knows %d members", i, known)
			}
		}
	})
}
