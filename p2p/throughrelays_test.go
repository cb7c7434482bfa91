package p2p_test

import (
	"testing"
	"testing/synctest"
	"time"

	"godwit/internal/testnet"
	"godwit/p2p"
)

// Of two that meet through a relay alone, in an overlay that the relay is not a member of, each hears
// at once what the other says of itself: who leads, for example. Gossip goes through no relay.
func TestSaidThroughRelay(t *testing.T) {
	for _, closed := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			nodes := apart(t, testnet.Symmetric, nil)
			a, b := nodes[1], nodes[2]
			pair := p2p.Overlay{ID: testnet.Overlay("pair"), Closed: closed}
			if _, err := a.Request(t.Context(), b.ID(), "echo", []byte("x")); err != nil {
				t.Fatal(err)
			}
			time.Sleep(2 * time.Minute) // what is told of a new connection is told
			if got := transport(a, b); got != "relay" {
				t.Fatalf("connected by %q", got)
			}
			for _, n := range []*testnet.Node{a, b} { // one after the other, as who founds it and who has a ticket
				if err := n.Join(pair); err != nil {
					t.Fatal(err)
				}
				setAdvert(t, pair.ID, 1, n)
				time.Sleep(2 * time.Second)
			}
			wantSlots(t, a, pair.ID, b, 1)
			wantSlots(t, b, pair.ID, a, 1)
			for slots := 2; slots < 6; slots++ {
				setAdvert(t, pair.ID, slots, a, b)
				time.Sleep(2 * time.Second)
				wantSlots(t, a, pair.ID, b, slots)
				wantSlots(t, b, pair.ID, a, slots)
			}
		})
	}
}
