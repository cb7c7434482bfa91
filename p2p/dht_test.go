package p2p_test

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"godwit/internal/testnet"
	"godwit/p2p"
	"godwit/task"
)

// tableOf makes a swarm of n hosts that have a hash table, of which host n-1 knows host 0 alone.
func tableOf(t *testing.T, n int) *testnet.Net {
	t.Helper()
	net := testnet.New(t, n, testnet.Options{})
	for _, h := range net.Nodes[:n-1] { // whose adverts last for five minutes
		if err := h.SetAdvert(h.Advert(1)); err != nil {
			t.Fatal(err)
		}
		h.SetTable(3, time.Minute)
	}
	time.Sleep(10 * time.Second)
	for i, h := range net.Nodes[:n-1] {
		if h.Serves() {
			t.Errorf("host %d serves the table at once", i)
		}
	}
	time.Sleep(2 * time.Minute)
	for i, h := range net.Nodes[:n-1] {
		if !h.Serves() {
			t.Errorf("host %d does not serve the table", i)
		}
	}
	time.Sleep(15 * time.Second) // they hear of each other's protocols
	return net
}

// asker counts whom Find tries, and takes those for good that it is told of.
type asker struct {
	good  map[task.PeerID]bool
	tried atomic.Int32
}

func (a *asker) try(_ context.Context, p task.PeerID) bool {
	a.tried.Add(1)
	return a.good[p]
}

// Who provides a key is found by somebody who knows one server, and nobody is found by a key that
// nobody provides.
func TestTableFinds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := tableOf(t, 8)
		newcomer, member := net.Nodes[7], net.Nodes[5]
		key := p2p.Key{1}
		member.Provide([]p2p.Key{key})
		time.Sleep(15 * time.Second)
		a := asker{good: map[task.PeerID]bool{member.ID(): true}}
		begun := time.Now()
		found, err := newcomer.Find(t.Context(), key, a.try)
		if err != nil || !found || a.tried.Load() != 1 {
			t.Errorf("found %v, %v, after %d peers and %v", found, err, a.tried.Load(), time.Since(begun))
		}
		t.Logf("found after %v", time.Since(begun))
		if found, err := newcomer.Find(t.Context(), p2p.Key{2}, a.try); err != nil || found {
			t.Errorf("by a key of nobody: %v, %v", found, err)
		}
		time.Sleep(2 * time.Minute)
		if newcomer.TakesPart() {
			t.Error("a host that looked something up takes part in the table for good")
		}
	})
}

// Without a table, as in each small swarm, nobody is asked.
func TestTableOfSmallSwarm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := testnet.New(t, 3, testnet.Options{})
		for _, h := range net.Nodes {
			if err := h.SetAdvert(h.Advert(1)); err != nil {
				t.Fatal(err)
			}
			h.SetTable(50, 0)
		}
		time.Sleep(5 * time.Minute)
		a := asker{}
		if _, err := net.Nodes[1].Find(t.Context(), p2p.Key{1}, a.try); !errors.Is(err, p2p.ErrNoTable) {
			t.Errorf("asked: %v", err)
		}
		for i, h := range net.Nodes {
			if h.TakesPart() {
				t.Errorf("host %d takes part in a table of nobody", i)
			}
		}
	})
}

// falseProviders are n peers of nobody, at addresses all over the world.
func falseProviders(tb testing.TB, from, n int) []p2p.MetPeer {
	tb.Helper()
	var out []p2p.MetPeer
	for i := from; i < from+n; i++ {
		id, err := p2p.PeerIDOf(ed25519.NewKeyFromSeed(fmt.Appendf(nil, "false%027d", i)))
		if err != nil {
			tb.Fatal(err)
		}
		at := fmt.Sprintf("/ip4/%d.%d.%d.1/udp/8000/quic-v1", 11+i%80, i/80%250, i%250)
		out = append(out, p2p.MetPeer{Peer: id, Addrs: []string{at}})
	}
	return out
}

// Ten thousand false providers, told by five of seven servers, cost time, and no more: whoever is
// good is found in 30 s, and nobody is taken for good who is not.
func TestTableOfLies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := tableOf(t, 8)
		newcomer, member := net.Nodes[7], net.Nodes[5]
		key := p2p.Key{1}
		member.Provide([]p2p.Key{key})
		time.Sleep(15 * time.Second)
		for i, h := range net.Nodes[:5] {
			lies := falseProviders(t, 2000*i, 2000)
			// and some of them are there, and are no members
			lies = append(lies, p2p.MetPeer{Peer: net.Nodes[i].ID(), Addrs: net.Nodes[i].AdvertAddrs(2)})
			h.Lie(key, lies)
		}
		a := asker{good: map[task.PeerID]bool{member.ID(): true}}
		begun := time.Now()
		found, err := newcomer.Find(t.Context(), key, a.try)
		took := time.Since(begun)
		if err != nil || !found || took > p2p.FindTime {
			t.Errorf("found %v, %v, after %v", found, err, took)
		}
		t.Logf("found after %v, %d peers shown", took, a.tried.Load())
		begun = time.Now()
		nobody := asker{}
		found, err = newcomer.Find(t.Context(), key, nobody.try)
		if err != nil || found || time.Since(begun) > p2p.FindTime {
			t.Errorf("where nobody is good: %v, %v, after %v", found, err, time.Since(begun))
		}
	})
}
