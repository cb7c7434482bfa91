package p2p

import (
	"fmt"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
)

// An address where nobody answers is dialled a few times at once and then ever more
// rarely, under whatever names it is told.
func TestRedialRests(t *testing.T) {
	r := newRedial(nil)
	at := time.Unix(0, 0)
	var when []time.Duration
	for s := range 20 * 60 {
		now := at.Add(time.Duration(s) * jointTime)
		name := peer.ID(fmt.Sprint("peer ", s))
		if r.lets(name, ma.StringCast("/ip4/192.0.2.1/tcp/22"), now) {
			when = append(when, now.Sub(at))
		}
	}
	want := []int{0, 1, 2, 3, 13, 33, 73, 153, 313, 613, 913}
	if len(when) != len(want) {
		t.Fatalf("dialled at %v", when)
	}
	for i, s := range want {
		if when[i] != time.Duration(s)*time.Second {
			t.Errorf("dial %d after %v, not %d s", i, when[i], s)
		}
	}
}

// Two dials that begin together are one; a third is not.
func TestRedialJoint(t *testing.T) {
	r := newRedial(nil)
	now, at := time.Unix(0, 0), ma.StringCast("/ip4/192.0.2.1/tcp/22")
	for range freeDials {
		r.lets("a peer", at, now)
		now = now.Add(jointTime)
	}
	now = now.Add(firstRest)
	for i, want := range []bool{true, true, false} {
		if got := r.lets("a peer", at, now.Add(time.Duration(i)*time.Millisecond)); got != want {
			t.Errorf("dial %d of those that begin together: %v", i, got)
		}
	}
}

// An address where a peer answered, and a peer that the owner named, never rest.
func TestRedialAnswered(t *testing.T) {
	named := peer.ID("named by the owner")
	r := newRedial(newNamed([]peer.AddrInfo{{ID: named}}, time.Unix(0, 0)))
	now := time.Unix(0, 0)
	at := ma.StringCast("/ip4/192.0.2.1/udp/4001/quic-v1")
	for i := range 3 * freeDials {
		if !r.lets(named, at, now) {
			t.Fatalf("a peer that the owner named rests at dial %d", i)
		}
		if !r.lets("another", at, now) {
			t.Fatalf("an address rests at dial %d though it answered", i)
		}
		r.met("another", at, now)
	}
	for range freeDials * jointDials {
		r.lets("a third", at, now)
	}
	if r.lets("a third", at, now) {
		t.Error("an address that does not answer does not rest")
	}
	other := ma.StringCast("/ip4/192.0.2.1/udp/4002/quic-v1")
	if !r.lets("a third", other, now) {
		t.Error("another address rests with it")
	}
}

// A peer that was at an address once is dialled there at any time, however long it was away; who
// only says that it is there is not. On this machine the address is one with its port.
func TestRedialProven(t *testing.T) {
	r := newRedial(nil)
	now := time.Unix(0, 0)
	at, here := ma.StringCast("/ip4/192.0.2.1/tcp/4001"), ma.StringCast("/ip4/127.0.0.1/tcp/4001")
	r.met("was there", ma.StringCast("/ip4/192.0.2.1/tcp/50000"), now) // it dialled us
	r.met("was there", ma.StringCast("/ip4/127.0.0.1/tcp/50000"), now)
	for range freeDials * jointDials {
		r.lets("says so", at, now)
		r.lets("says so", here, now)
	}
	for range freeDials * jointDials {
		if !r.lets("was there", at, now) {
			t.Fatal("a peer that was there is not dialled")
		}
	}
	if r.lets("says so", at, now) {
		t.Error("an address is dialled for whoever names it")
	}
	if r.lets("was there", here, now) {
		t.Error("another port of this machine is dialled for whoever was at one")
	}
}

// What is remembered is bounded: the oldest goes.
func TestRedialBounded(t *testing.T) {
	r := newRedial(nil)
	door := func(i int) ma.Multiaddr {
		return ma.StringCast(fmt.Sprintf("/ip4/10.%d.%d.%d/tcp/1", i>>16, i>>8&255, i&255))
	}
	for i := range mostRested + 10 {
		for range freeDials * jointDials {
			r.lets("a peer", door(i), time.Unix(int64(i), 0))
		}
	}
	if n := len(r.tries); n != mostRested {
		t.Errorf("%d addresses are remembered, not %d", n, mostRested)
	}
	now := time.Unix(mostRested+10, 0)
	if !r.lets("a peer", door(0), now) {
		t.Error("the oldest was not forgotten")
	}
	if r.lets("a peer", door(mostRested+9), now) {
		t.Error("the newest was forgotten")
	}
}
