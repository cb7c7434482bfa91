package p2p_test

import (
	"testing"
	"testing/synctest"
	"time"

	"godwit/internal/testnet"
	"godwit/p2p"
)

// TestNeeds: a node connects to whom it finds on the local network until it has neighbours enough;
// then to those alone of whom nobody tells it, so that two swarms become one.
func TestNeeds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := testnet.New(t, p2p.WantPeers+3, testnet.Options{Alone: true})
		a, known, late := net.Nodes[0], net.Nodes[1], net.Nodes[2]
		if !a.Needs(known.ID()) {
			t.Error("a node without neighbours leaves one alone")
		}
		for _, n := range net.Nodes[3:] {
			a.Connect(n)
		}
		stranger, err := p2p.PeerIDOf(testnet.Key(100))
		if err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		if !a.Needs(stranger) || time.Since(begun) < 10*time.Second {
			t.Errorf("one of whom nobody tells was left alone, or dialled after %v", time.Since(begun))
		}
		net.Nodes[3].Connect(known)
		if err := known.SetAdvert(known.Advert(1)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Second)
		begun = time.Now()
		if a.Needs(known.ID()) || time.Since(begun) > time.Second {
			t.Error("one that is known is dialled all the same")
		}
		net.Nodes[4].Connect(late) // while it waits
		time.AfterFunc(time.Second, func() { _ = late.SetAdvert(late.Advert(1)) })
		if a.Needs(late.ID()) {
			t.Error("one that others told of meanwhile is dialled")
		}
	})
}
