package p2p

import (
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
)

const (
	// freeDials is how often an address is dialled at once where nobody has answered there:
	// a peer that has just begun, or whose network is back, is met without a rest.
	freeDials = 4
	// firstRest is how long an address rests after the free dials. Each further dial doubles
	// it, up to longestRest, within which a peer that came back is found at the latest.
	firstRest   = 10 * time.Second
	longestRest = 5 * time.Minute
	// Dials that begin within jointTime of each other are one, up to jointDials: libp2p dials a
	// peer twice at once where one caller takes a relay and another does not, and the second must
	// not fail because the first has begun.
	jointTime  = time.Second
	jointDials = 2
	// mostRested bounds the addresses that are remembered: those of a table full of adverts,
	// two each. The one that was dialled longest ago is forgotten.
	mostRested = 8192
)

// A redial remembers the addresses that were dialled and where nobody who speaks the protocol
// answered. An advert may name the addresses of anybody: without it all members would knock
// there for as long as somebody tells them to, under names without end. It is asked by the
// address alone, so that new names do not help. A peer that proved to be at an address once is
// dialled there at any time.
//
// Methods are safe for concurrent use.
type redial struct {
	named *named // whose addresses never rest: the owner gave them

	mu     sync.Mutex
	tries  map[string]*knock  // by the bytes of the address, without a peer
	proven map[home]time.Time // when a peer last proved that it is there
}

// A home is a peer at a network address: at all of it, so that a peer that dialled from there is
// met there when it is back, but for this machine's own, which all share.
type home struct {
	peer peer.ID
	at   string
}

// A knock is what is remembered of an address.
type knock struct {
	times int
	last  time.Time
	joint int // dials with the last one, which is counted
}

func newRedial(named *named) *redial {
	return &redial{named: named, tries: map[string]*knock{}, proven: map[home]time.Time{}}
}

// lets reports whether an address may be dialled for a peer now, and counts the dial if so.
func (r *redial) lets(p peer.ID, addr ma.Multiaddr, now time.Time) bool {
	if r.named.has(p) {
		return true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.proven[homeOf(p, addr)]; known {
		return true
	}
	at := doorOf(addr)
	k := r.tries[at]
	if k == nil {
		makeRoom(r.tries, func(k *knock) time.Time { return k.last })
		k = &knock{}
		r.tries[at] = k
	}
	switch {
	case !now.Before(k.last.Add(k.rest())):
		k.times++
		k.last, k.joint = now, 1
		return true
	case k.joint < jointDials && now.Sub(k.last) < jointTime:
		k.joint++
		return true
	}
	return false
}

// rest is how long an address is left alone after its last dial.
func (k *knock) rest() time.Duration {
	if k.times < freeDials {
		return 0
	}
	rest := firstRest
	for range k.times - freeDials {
		if rest *= 2; rest >= longestRest {
			return longestRest
		}
	}
	return rest
}

// met takes in that a peer proved who it is at an address, which may be one that it dialled from.
func (r *redial) met(p peer.ID, addr ma.Multiaddr, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.tries, doorOf(addr))
	h := homeOf(p, addr)
	if _, known := r.proven[h]; !known {
		makeRoom(r.proven, func(t time.Time) time.Time { return t })
	}
	r.proven[h] = now
}

// makeRoom forgets the oldest where there are too many.
func makeRoom[K comparable, V any](of map[K]V, at func(V) time.Time) {
	if len(of) < mostRested {
		return
	}
	var oldest time.Time
	var which K
	first := true
	for k, v := range of {
		if t := at(v); first || t.Before(oldest) {
			oldest, which, first = t, k, false
		}
	}
	delete(of, which)
}

func homeOf(p peer.ID, addr ma.Multiaddr) home {
	ip, err := manet.ToIP(addr)
	if err != nil || ip.IsLoopback() {
		return home{p, doorOf(addr)}
	}
	return home{p, string(ip.To16())}
}

// doorOf is an address without the name of a peer behind it.
func doorOf(addr ma.Multiaddr) string {
	door, _ := ma.SplitFunc(addr, func(c ma.Component) bool { return c.Protocol().Code == ma.P_P2P })
	return string(door.Bytes())
}
